"""Small flows to test with."""

import copy
from typing import Any

from workspaces.automations.flows.flow import Flow, Step

__all__ = ["Flow", "a_birthday_flow", "a_catch_all", "a_customers_flow", "a_flow", "a_link_to_book", "a_step"]


def a_step(id: str, type: str, next: dict[str, str] | None = None, **config: Any) -> Step:
    return {"id": id, "type": type, "config": config, "next": next or {}}


def a_flow(*steps: Step, trigger: str = "keyword", **config: Any) -> Flow:
    """A flow of these steps, entered at the first; without any it greets."""
    steps = steps or (a_step("greet", "send_text", text="Hello {{contact.first_name}}!"),)
    if trigger == "keyword" and not config:
        config = {"keywords": ["hello"]}
    flow: Flow = {"trigger": {"type": trigger, "config": config}, "entry": steps[0]["id"], "steps": list(steps)}
    return copy.deepcopy(flow)


def a_catch_all() -> Flow:
    return a_flow(trigger="any_message")


def a_link_to_book() -> Flow:
    """A flow that runs, and that needs working hours, a booking page and the setting with its link."""
    return a_flow(
        a_step("open", "working_hours", {"open": "link", "closed": "link"}),
        a_step("link", "booking_link", text="Choose a time."),
    )


def a_birthday_flow() -> Flow:
    """A flow that runs, with four values of the customer's; it needs a contact and working hours."""
    return a_flow(
        a_step("hello", "send_text", {"next": "hours"}, text="Call us on +49 151 1234 5678 or at home."),
        a_step("hours", "working_hours", {"open": "assign", "closed": "link"}, calendar="cal-8841"),
        a_step("assign", "assign", {"next": "link"}, agent="agent-17"),
        a_step("link", "send_link_button", {}, text="Our page", title="Open", url="https://corner-salon.example/x"),
        trigger="birthday",
    )


def a_customers_flow() -> Flow:
    """A flow with something of the customer's, something of the agency's, and something private in a text."""
    return a_flow(
        a_step("hello-4915112345678", "send_text", {"next": "ask"}, text="Call us on +49 151 1234 5678 or at home."),
        a_step("ask", "ask_question", {"answered": "book"}, text="When?", expects="text", save_as="day"),
        a_step(
            "book",
            "book_appointment",
            {"booked": "pay", "not_booked": "link"},
            text="Choose a time.",
            calendar="cal-8841",
            agent="agent-17",
        ),
        a_step("pay", "payment_link", {}, text="Pay here.", pays="deposit", account="acct-agency-9"),
        a_step("link", "send_link_button", {}, text="Our page", title="Open", url="https://corner-salon.example/x"),
    )
