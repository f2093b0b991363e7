"""Which addresses of a message are tracked, and the signed tokens that stand for them."""

from typing import Any

import pytest
from django.test import override_settings
from hypothesis import given
from hypothesis import strategies as st

from broadcasts.content import FrozenMessage
from broadcasts.services.tracked_links import (
    DIGITS,
    LinkToken,
    links_in,
    read_token,
    target_of,
    token_of,
    tracked_link,
    with_tracked_links,
)

HOST = "https://send.example"
OUR_BUTTON = [{"type": "BUTTONS", "buttons": [{"type": "URL", "text": "See", "url": f"{HOST}/l/{{{{1}}}}"}]}]
OTHER_BUTTON = [{"type": "BUTTONS", "buttons": [{"type": "URL", "text": "See", "url": "https://shop.example/{{1}}"}]}]


def button(parameter: str) -> dict[str, Any]:
    return {"type": "button", "sub_type": "url", "index": "0", "parameters": [{"type": "text", "text": parameter}]}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Look: https://shop.example/sale?x=1#top.", ["https://shop.example/sale?x=1#top"]),
        ("*https://shop.example/a*, (https://shop.example/b)", ["https://shop.example/a", "https://shop.example/b"]),
        ("https://shop.example/a_(b)", ["https://shop.example/a_(b)"]),
        ("HTTP://Shop.example:8080/ twice HTTP://Shop.example:8080/", ["HTTP://Shop.example:8080/"]),
        (
            "https://shop.example/?to={{contact.first_name}}&x={{ fields.My size }} now",
            ["https://shop.example/?to={{contact.first_name}}&x={{ fields.My size }}"],
        ),
        ("https://bücher.example/ü", ["https://bücher.example/ü"]),
        ("javascript://alert(1) ftp://shop.example mailto:a@b.example www.shop.example", []),
        ("https://shop.example@evil.example/ https://{{contact.name}}.example/", []),
        (r"https://shop.example\@evil.example/ https:///path https://:80/ https://a:b/ https://", []),
        ("https://[::1]/ https://ev il.example", ["https://[::1]/", "https://ev"]),
        ("https://shop.example/" + "a" * 2_000, []),
    ],
)
def test_addresses_are_found_in_a_text(text: str, found: list[str]) -> None:
    assert links_in({"text": text}) == found


def test_addresses_are_found_in_a_template_s_text_parameters_only() -> None:
    components: list[Any] = [
        {"type": "header", "parameters": [{"type": "image", "image": {"link": "https://media.example/a.png"}}]},
        {"type": "body", "parameters": [{"type": "text", "text": "https://shop.example/1"}, {"type": "currency"}]},
        {"type": "carousel", "cards": [{"components": [{"type": "body", "parameters": [
            {"type": "text", "text": "https://shop.example/2"}]}]}]},
        button("https://shop.example/3"),
        "nonsense",
    ]  # fmt: skip

    assert links_in({"template": "sale", "components": components}) == [
        "https://shop.example/1",
        "https://shop.example/2",
    ]


def test_a_message_has_its_links_and_a_button_of_ours_the_token_alone() -> None:
    template = {
        "name": "sale",
        "language": "en",
        "components": [
            {"type": "body", "parameters": [{"type": "text", "text": "{{contact.name}}, https://shop.example/1!"}]},
            button("https://shop.example/2"),
        ],
    }
    _, kept, links = with_tracked_links("", template, approved=OUR_BUTTON, base_urls=[HOST])
    frozen = FrozenMessage(template=kept, variables=["contact.name"], links=links)

    _, sent = FrozenMessage.from_json(frozen.as_json()).for_recipient(["Ada"], lambda n: tracked_link(HOST, 7, 9, n))

    assert sent is not None
    assert [component["parameters"][0]["text"] for component in sent["components"]] == [
        f"Ada, {tracked_link(HOST, 7, 9, 0)}!",
        token_of(7, 9, 1),
    ]
    assert links == ["https://shop.example/1", "https://shop.example/2"]


def test_a_button_with_another_approved_address_keeps_its_parameter() -> None:
    template = {"name": "sale", "components": [button("https://shop.example/2"), button("offers/7")]}

    _, kept, links = with_tracked_links("", template, approved=OTHER_BUTTON, base_urls=[HOST])

    assert (kept, links) == (template, [])


def test_without_links_of_its_own_a_recipient_would_see_the_addresses() -> None:
    text, _, links = with_tracked_links("Hi https://shop.example/{{contact.name}}", None)
    frozen = FrozenMessage(text=text, variables=["contact.name"], links=links)

    assert frozen.for_recipient(["Ada"])[0] == "Hi https://shop.example/Ada"


def test_one_address_that_begins_another_is_not_taken_for_it() -> None:
    text, _, links = with_tracked_links("https://a.example https://a.example/b https://a.example", None)

    assert text == "{{link.0}} {{link.1}} {{link.0}}"
    assert links == ["https://a.example", "https://a.example/b"]


@pytest.mark.parametrize(
    ("address", "value", "leads_to"),
    [
        ("https://shop.example/{{contact.name}}", "../a b?&#ü", "https://shop.example/..%2Fa%20b%3F%26%23%C3%BC"),
        ("https://shop.example{{contact.name}}", "@evil.example/", None),
        ("HTTPS://Bücher.example/ü?ä=1#ö", "", "https://xn--bcher-kva.example/%C3%BC?%C3%A4=1#%C3%B6"),
        ("https://shop.example/100%25?a=%20", "", "https://shop.example/100%25?a=%20"),
        ("javascript:alert(1)", "", None),
        ("//evil.example", "", None),
    ],
)
def test_a_link_leads_to_its_fixed_host_whatever_the_contact_is_called(
    address: str, value: str, leads_to: str | None
) -> None:
    frozen = FrozenMessage(variables=["contact.name"], links=[address])

    assert target_of(frozen, 0, [value]) == leads_to
    assert target_of(frozen, 1, [value]) is None


IDS = st.integers(1, 2**63 - 1)


@given(IDS, IDS, st.integers(0, 63))
def test_a_token_says_whose_link_it_is(broadcast: int, contact: int, number: int) -> None:
    assert read_token(token_of(broadcast, contact, number)) == LinkToken(broadcast, contact, number)


def test_a_token_is_short() -> None:
    assert len(token_of(1_000_000, 100_000_000, 3)) == 18


def test_no_token_but_the_signed_one_is_taken() -> None:
    token = token_of(7, 9, 1)
    changed = [
        token[:at] + digit + token[at + 1 :] for at in range(len(token)) for digit in DIGITS if digit != token[at]
    ]

    assert [one for one in changed if read_token(one)] == []
    assert not any(map(read_token, ("", "0", token[:-1], f"0{token}", f"{token}0", token + "é", "z" * 36, "z" * 99)))


def test_links_of_an_earlier_secret_are_still_followed() -> None:
    with override_settings(SECRET_KEY="earlier"):
        token = token_of(7, 9, 1)

    assert read_token(token) is None
    with override_settings(SECRET_KEY_FALLBACKS=["earlier"]):
        assert read_token(token) == LinkToken(7, 9, 1)


@pytest.mark.parametrize("target", [(0, 1, 0), (1, 0, 0), (1, 1, 64), (1, 1, -1), (2**63, 1, 0)])
def test_what_no_row_has_is_not_signed(target: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError, match="no such link"):
        token_of(*target)
