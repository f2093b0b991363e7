"""The message templates of business accounts. All accounts begin with the same; tests change them."""

import copy
import threading
from typing import Any, Final

Template = dict[str, Any]


def _template(name: str, status: str = "APPROVED", category: str = "UTILITY", **more: Any) -> Template:
    text = more.pop("text", "Hello {{1}}, your order is ready.")
    example = {"body_text": [["Ann"]]} if "{{1}}" in text else {}
    body = {"type": "BODY", "text": text} | ({"example": example} if example else {})
    components = [*more.pop("before", ()), body, *more.pop("after", ())]
    return {
        "name": name,
        "language": "en_US",
        "status": status,
        "category": category,
        "parameter_format": "POSITIONAL",
        "components": components,
        **more,
    }


DOCUMENT: Final = {"type": "HEADER", "format": "DOCUMENT", "example": {"header_handle": ["https://cdn.invalid/a.pdf"]}}
SHOP_BUTTON: Final = {
    "type": "URL",
    "text": "Shop",
    "url": "https://shop.example.com/{{1}}",
    "example": ["https://shop.example.com/a"],
}
STOP_BUTTON: Final = {"type": "QUICK_REPLY", "text": "Stop promotions"}
CARD: Final = {
    "components": [
        {"type": "HEADER", "format": "IMAGE", "example": {"header_handle": ["https://cdn.invalid/a.png"]}},
        {"type": "BODY", "text": "From {{1}}", "example": {"body_text": [["9.90"]]}},
        {"type": "BUTTONS", "buttons": [SHOP_BUTTON]},
    ]
}
NAMED: Final = {"body_text_named_params": [{"param_name": "name", "example": "Ann"}]}
# The first templates of every business account: each status, each kind of parameter, and those of the guides.
FIRST: Final = (
    _template("hello", text="Hello and welcome."),
    _template("order_ready"),
    _template("order_ready", language="de", text="Hallo {{1}}, deine Bestellung ist fertig."),
    _template("invoice", before=[DOCUMENT], text="Your invoice {{1}}."),
    _template(
        "sale",
        category="MARKETING",
        text="Hi {{1}}, our sale starts {{2}}.",
        after=[{"type": "BUTTONS", "buttons": [SHOP_BUTTON, STOP_BUTTON]}],
    ),
    _template(
        "named", parameter_format="NAMED", components=[{"type": "BODY", "text": "Hello {{name}}.", "example": NAMED}]
    ),
    _template(
        "carousel", category="MARKETING", text="New this week", after=[{"type": "CAROUSEL", "cards": [CARD, CARD]}]
    ),
    _template("waiting", "PENDING"),
    _template("refused", "REJECTED", rejected_reason="INVALID_FORMAT"),
    _template("paused", "PAUSED"),
    _template("disabled", "DISABLED"),
    _template("archived", "ARCHIVED"),
    _template("flagged", "FLAGGED"),
    _template("summer_sale", category="MARKETING", text="Hi {{1}}, our summer sale has begun."),
    _template("appointment_reminder", text="Your appointment is tomorrow. We look forward to seeing you."),
)


class Templates:
    """The templates by business account. An account begins with those of `FIRST`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_business: dict[str, list[Template]] = {}

    def of(self, business: str) -> list[Template]:
        with self._lock:
            return copy.deepcopy(self._own(business))

    def find(self, business: str, name: str, language: str) -> Template | None:
        return next((one for one in self.of(business) if (one["name"], one["language"]) == (name, language)), None)

    def change(self, business: str, name: str, language: str, changes: Template | None) -> Template | None:
        """Change a template, make it if there is none, or remove it (None); give the template as it was before."""
        with self._lock:
            own = self._own(business)
            found = next((one for one in own if (one["name"], one["language"]) == (name, language)), None)
            before = copy.deepcopy(found)
            if changes is None:
                own[:] = [one for one in own if one is not found]
            elif found is None:
                own.append({**_template(name, language=language), "id": f"{business}9{len(own):03d}", **changes})
            else:
                found.update(changes)
            return before

    def clear(self) -> None:
        with self._lock:
            self._by_business.clear()

    def _own(self, business: str) -> list[Template]:
        if business not in self._by_business:
            first = copy.deepcopy(FIRST)
            self._by_business[business] = [
                {"id": f"{business}8{number:03d}", **one} for number, one in enumerate(first)
            ]
        return self._by_business[business]
