"""What counts as private in a text, and what does not."""

import pytest

from workspaces.automations.flows.privacy import private_content

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
HIDDEN = [
    ("ada_at_example_dot_org", "an e-mail address or account name"),
    ("ada-at-example-dot-org", "an e-mail address or account name"),
    ("ada at gmail", "an e-mail address or account name"),
    ("adaATexampleDOTorg", "an e-mail address or account name"),
    ("ada%40example", "an e-mail address or account name"),
    ("Instagram: cornersalon", "an e-mail address or account name"),
    ("corner#1234", "an e-mail address or account name"),
    ("example . com", "a web address"),
    ("example,com", "a web address"),
    ("example[.]com", "a web address"),
    ("www example com", "a web address"),
    ("https{{contact.name}}:/ /example", "a web address"),
    ("//example/menu", "a web address"),
    (r"\\\\server\\menu", "a web address"),
    ("zero one seven zero, double one, three four five", "a phone number"),
    ("one-seven-zero five five five one two", "a phone number"),
    ("O17O I234567", "a phone number"),
    ("0 . . 1 . . 7 . . 0 . . 1 . . 2 . . 3", "a phone number"),
    ("170 --- 123 --- 4567", "a phone number"),
    ("0<b>1</b>7<i>0</i>12<br/>34", "a phone number"),
    ("\u24ff\u278a\u2790\u278a\u278b\u278c\u278d\u278e", "a phone number"),
    ("\u3007\u4e00\u4e03\u3007\u4e00\u4e8c\u4e09", "a phone number"),
    ("1\u0301\u0302\u0303\u03042\u0301\u0302\u0303\u030434567", "a phone number"),
    ("&amp;#48;&amp;#49;&amp;#55;&amp;#48;&amp;#49;&amp;#50;&amp;#51;", "a phone number"),
    ("q83v/Ae+Zk1P/x9Q+lmN0pQr", "an id or a key"),
    ("qzxkvbnmplkjhgfdsaqw", "an id or a key"),
    ("Password: hunter", "an id or a key"),
    ("API key = abc", "an id or a key"),
    ("-----BEGIN PRIVATE KEY-----", "an id or a key"),
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
    "A cut is $10.00 - $20.00, colour 35.00 € to 60.00 €.",
    "Olá, com prazer! Sim. Com certeza. Net price, no extras.",
    "One, two, three: gone! Double the points on seven days in May.",
    "Open Mon/Tue/Wed/Thu/Fri and Sat",
    "Angstschweiß, Rechtsschutzversicherung, rhythmically, Knightsbridge",
    "We read WhatsApp, Messenger and Instagram. Look at our menu at noon.",
    "<b>Welcome</b> & hello",
]


@pytest.mark.parametrize(("text", "what"), PRIVATE + HIDDEN)
def test_private_content_is_found(text: str, what: str) -> None:
    assert private_content(text) == what


@pytest.mark.parametrize("text", FINE)
def test_plain_texts_are_left_alone(text: str) -> None:
    assert private_content(text) is None
