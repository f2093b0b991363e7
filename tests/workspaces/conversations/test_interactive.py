"""A text with options takes the best form that a network has, and becomes numbered lines where there is none."""

from typing import Any

import pytest

from workspaces.conversations.services.conversations import CannotSendHere, ContentRefused
from workspaces.conversations.services.interactive import InteractiveOption, interactive_content

WHATSAPP, FACEBOOK, INSTAGRAM = "whatsapp", "facebook", "instagram"


def options(number: int, title: str = "Option", description: str = "") -> list[InteractiveOption]:
    return [InteractiveOption(f"run:0:1:button_{one}", f"{title} {one}", description) for one in range(1, number + 1)]


@pytest.mark.parametrize(
    ("platform", "style", "number", "form"),
    [
        (WHATSAPP, "buttons", 3, "buttons"),
        (WHATSAPP, "buttons", 4, "list"),
        (WHATSAPP, "list", 2, "list"),
        (WHATSAPP, "list", 11, ""),
        (WHATSAPP, "quick_replies", 3, "buttons"),
        (FACEBOOK, "buttons", 3, "buttons"),
        (FACEBOOK, "buttons", 13, "quick_replies"),
        (INSTAGRAM, "list", 5, "quick_replies"),
        (INSTAGRAM, "", 2, "buttons"),
        (INSTAGRAM, "quick_replies", 14, ""),
    ],
)
def test_each_network_has_its_form(platform: str, style: str, number: int, form: str) -> None:
    content = interactive_content(platform, "Which?", options(number), style=style)

    assert content.details.get("interactive", {}).get("style", "") == form
    if form:
        assert (content.type, content.text, len(content.details["interactive"]["options"])) == (
            "interactive",
            "Which?",
            number,
        )
    else:
        assert (content.type, content.details) == ("text", {})
        assert content.text.startswith("Which?\n\n1. Option 1\n2. Option 2\n")


LONG = "x" * 21
SAME = [InteractiveOption("run:0:1:a", "Same"), InteractiveOption("run:0:1:b", "Same")]


@pytest.mark.parametrize(
    ("platform", "text", "chosen", "form"),
    [
        (WHATSAPP, "x" * 1_024, options(2), "buttons"),
        (WHATSAPP, "x" * 1_025, options(2), "list"),
        (WHATSAPP, "Which?", [InteractiveOption("run:0:1:a", LONG)], "list"),
        (WHATSAPP, "Which?", [InteractiveOption("run:0:1:a", "x" * 25)], ""),
        (WHATSAPP, "Which?", [InteractiveOption("r" * 201, LONG)], ""),
        (WHATSAPP, "Which?", [InteractiveOption("run:0:1:a", LONG, "x" * 73)], ""),
        (WHATSAPP, "Which?", SAME, ""),
        (FACEBOOK, "x" * 641, options(2), "quick_replies"),
        (FACEBOOK, "Which?", [InteractiveOption("run:0:1:a", LONG)], ""),
        (INSTAGRAM, "é" * 330, options(2), "quick_replies"),
        (INSTAGRAM, "é" * 495, options(2), "quick_replies"),
    ],
)
def test_what_exceeds_a_limit_takes_the_next_form(
    platform: str, text: str, chosen: list[InteractiveOption], form: str
) -> None:
    content = interactive_content(platform, text, chosen, style="buttons")
    assert content.details.get("interactive", {}).get("style", "") == form


def test_descriptions_and_the_footer_stay_legible_where_a_form_has_no_place_for_them() -> None:
    chosen = options(2, "Cut", "45 minutes")
    listed = interactive_content(WHATSAPP, "Which?", chosen, style="list", list_button="Choose", footer="Bye")
    shown = interactive_content(FACEBOOK, "Which?", chosen, style="list", footer="Bye")

    assert listed.text == "Which?"
    assert listed.details["interactive"]["options"][0]["description"] == "45 minutes"
    assert (listed.details["interactive"]["list_button"], listed.details["interactive"]["footer"]) == ("Choose", "Bye")
    assert shown.text == "Which?\n\nBye\n\nCut 1: 45 minutes\nCut 2: 45 minutes"


@pytest.mark.parametrize(
    ("platform", "given", "text", "interactive"),
    [
        (WHATSAPP, {"button": "Look", "url": "https://a.example"}, "Here", {"button": "Look"}),
        (INSTAGRAM, {"button": LONG, "url": "https://a.example"}, f"Here\n\n{LONG}: https://a.example", None),
        (FACEBOOK, {"button": "Look", "url": "javascript:alert(1)"}, "Here\n\nLook: javascript:alert(1)", None),
        (WHATSAPP, {"style": "call", "button": "Call", "phone": "+49 30 1"}, "Here\n\nCall: +49 30 1", None),
        (WHATSAPP, {"style": "link", "button": "Look"}, "Here", None),
    ],
)
def test_links_have_a_button_and_numbers_stand_in_the_text(
    platform: str, given: dict[str, Any], text: str, interactive: dict[str, str] | None
) -> None:
    values: dict[str, Any] = {"style": "link", **given}
    content = interactive_content(platform, "Here", **values)
    expected: dict[str, Any] = {}
    if interactive:
        expected["interactive"] = {"style": "link", "url": given["url"], **interactive}
    assert (content.text, content.details) == (text, expected)


@pytest.mark.parametrize(
    ("platform", "text", "chosen", "error"),
    [
        ("telegram", "Which?", options(1), CannotSendHere),
        (WHATSAPP, " ", options(1), ContentRefused),
        (WHATSAPP, "Which?", [InteractiveOption("r" * 257, "Yes")], ContentRefused),
        (INSTAGRAM, "é" * 501, options(2), ContentRefused),
        (INSTAGRAM, "x" * 990, options(14), ContentRefused),
    ],
)
def test_what_no_form_can_hold_is_refused(
    platform: str, text: str, chosen: list[InteractiveOption], error: type[Exception]
) -> None:
    with pytest.raises(error):
        interactive_content(platform, text, chosen)
