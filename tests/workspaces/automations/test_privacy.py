"""What counts as private in a text, and what does not."""

import pytest

from workspaces.automations.privacy import private_content

PRIVATE = [
    ("Write to ada@example.com", "an e-mail address or account name"),
    ("Write to ada (at) example (dot) com", "an e-mail address or account name"),
    ("ada at example dot com", "an e-mail address or account name"),
    ("ada&#64;example.com", "an e-mail address or account name"),
    ("ada\u200b@\u200bexample", "an e-mail address or account name"),
    ("Follow @cornersalon", "an e-mail address or account name"),
    ("See https://example.com/x?y=1", "a web address"),
    ("See HTTP://EXAMPLE", "a web address"),
    ("See www.example", "a web address"),
    ("See example.com", "a web address"),
    ("See shop.example.co.uk/menu", "a web address"),
    ("See bücher.example", "a web address"),
    ("See xn--bcher-kva.xn--p1ai", "a web address"),
    ("See example\uff0ecom", "a web address"),
    ("See example\u3002com now", "a web address"),
    ("At 10.0.0.1", "a web address"),
    ("{{example.com}}", "a web address"),
    ("{{contact.example.com}}", "a web address"),
    ("Call 030 1234567", "a phone number"),
    ("Call +49 (0)30 / 123-45-67", "a phone number"),
    ("06.12.34.56.78", "a web address"),
    ("\u0660\u0661\u0662\u0663\u0664\u0665\u0666\u0667", "a phone number"),
    ("\uff10\uff13\uff10\uff11\uff12\uff13\uff14\uff15", "a phone number"),
    ("0\u200b30\u200b12\u200b34\u200b567", "a phone number"),
    ("Tel. 5512", "a phone number"),
    ("Your account: 48291733", "a phone number"),
    ("{{answers.tel_491511234567}}", "a phone number"),
    ("svc_ag_abcdefghij", "an id or a key"),
    ("sk_live_abcdefghijkl", "an id or a key"),
    ("eyJhbGciOiJIUzI1NiJ9", "an id or a key"),
    ("b7c1b2de-aaaa-bbbb-cccc-ddddeeeeffff", "an id or a key"),
    ("order A1B2C3D4E5", "an id or a key"),
    ("AbCdEfGhIjKlMnOp", "an id or a key"),
]
FINE = [
    "",
    "Hello {{contact.first_name}}, how are you today?",
    "We are open from 9:00-18:00, Mon to Fri.",
    "It costs $1,299.00, or 20 % less before 12:30.",
    "Ready in 5-10 minutes!",
    "Your booking on {{appointment.date}} at {{appointment.time}} stands. Reply YES to confirm.",
    "{{answers.preferred_day}} or {{fields.favourite_dish}}?",
    "Choose 1, 2 or 3.",
    "e.g. a cut, i.e. 30 minutes",
    "A follow-up for your sub-account, api-first and key-ready.",
    "Kraftfahrzeughaftpflichtversicherung für alle",
    "😀 Danke! 谢谢 ขอบคุณ شكرا",
    "24/7 support since 1998",
]


@pytest.mark.parametrize(("text", "what"), PRIVATE)
def test_private_content_is_found(text: str, what: str) -> None:
    assert private_content(text) == what


@pytest.mark.parametrize("text", FINE)
def test_plain_words_are_left_alone(text: str) -> None:
    assert private_content(text) is None
