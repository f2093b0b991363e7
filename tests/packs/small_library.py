"""A small library to test with, written as files of the same form as the product's own."""

import json
from pathlib import Path
from typing import Any

from packs.library import Industry
from tests.factories.flows import a_catch_all, a_flow, a_step
from workspaces.subaccounts.models.workspaces import BusinessType

CHATS = ["whatsapp", "facebook", "instagram", "telegram", "livechat"]
BOOKING, WELCOME, ASSISTANT, REVIEWS, REMINDER, STATUS = (
    "salons-booking",
    "salons-welcome",
    "salons-assistant",
    "salons-reviews",
    "salons-reminder",
    "salons-order-status",
)


def an_item(id: str, name: str, flow: Any, channels: list[str] | None = None) -> dict[str, Any]:
    return {"id": id, "name": name, "description": f"{name}, for you.", "channels": channels or CHATS, "flow": flow}


def salons() -> list[dict[str, Any]]:
    booking = a_flow(a_step("book", "book_appointment", text="Choose a time."))
    answer = a_step("answer", "ai_answer", instructions="Answer kindly.", tone="friendly")
    reminder = a_flow(a_step("remind", "send_template", purpose="reminder"), trigger="appointment_near", hours=24)
    reply = a_step("reply", "reply_to_review", text="Thank you!")
    return [
        an_item(BOOKING, "Book a visit", booking),
        an_item(WELCOME, "Welcome everybody", a_catch_all()),
        an_item(ASSISTANT, "Assistant", a_flow(answer, trigger="any_message")),
        an_item(REVIEWS, "Answer reviews", a_flow(reply, trigger="review_received", stars="any"), ["gbp"]),
        an_item(REMINDER, "Remind of a visit", reminder, ["whatsapp"]),
        an_item(STATUS, "Where is my order", a_flow(a_step("status", "order_status", text="Your order:"))),
        *[an_item(f"salons-extra-{number}", f"Extra {number}", a_flow()) for number in range(1, 13)],
    ]


def extra(number: int) -> str:
    return f"salons-extra-{number}"


def platform_packs() -> list[dict[str, Any]]:
    return [
        {
            "id": f"{kind.replace('_', '-')}-starter",
            "business_type": kind,
            "industry": None,
            "name": f"Starter for {kind.replace('_', ' ')}",
            "summary": "To begin with.",
            "entries": [{"item": BOOKING, "tier": "core"}, {"item": REVIEWS, "tier": "optional"}],
        }
        for kind in BusinessType.values
    ]


def write_library(folder: Path, *, without: tuple[str, ...] = ()) -> Path:
    """Write the library; `without` are items that have been retired."""
    folder.mkdir(parents=True, exist_ok=True)
    for industry in Industry.values:
        items = salons() if industry == "salons" else []
        content = {
            "industry": industry,
            "automations": [item for item in items if item["id"] not in without],
            "retired": [{"id": item["id"], "name": item["name"]} for item in items if item["id"] in without],
        }
        (folder / f"{industry}.json").write_text(json.dumps(content))
    packs = [
        {**pack, "entries": [one for one in pack["entries"] if one["item"] not in without]} for pack in platform_packs()
    ]
    (folder / "platform_packs.json").write_text(json.dumps({"packs": packs}))
    return folder
