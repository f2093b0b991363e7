"""Subscriptions of business accounts and Pages, and the registration of numbers."""

from typing import Final

from tools.sandbox.answers import Answer, Ask, told
from tools.sandbox.errors import Refused
from tools.sandbox.listing import kind_of, visible_business, visible_number, visible_page
from tools.sandbox.tokens import Token
from tools.sandbox.world import World

SUBSCRIBING_TASKS: Final = {"CREATE_CONTENT", "MANAGE", "MODERATE"}
PAGE_FIELDS: Final = {
    "messages",
    "messaging_postbacks",
    "message_deliveries",
    "message_reads",
    "message_echoes",
    "messaging_handovers",
    "standby",
    "feed",
    "mention",
}
MOST_REGISTRATIONS: Final = 10
PIN_DIGITS: Final = 6


def subscribe(world: World, ask: Ask, token: Token, key: str) -> Answer:
    """Repeating it changes nothing."""
    fields = _page_fields(ask, token, key) if _is_page(token, key) else _business_fields(token, key)
    with world.lock:
        world.subscriptions[key] = fields
    return told({"success": True})


def subscriptions(world: World, ask: Ask, token: Token, key: str) -> Answer:
    _owned(token, key)
    with world.lock:
        fields = world.subscriptions.get(key)
    app = {"id": world.config.app_id, "name": "Sandbox", "link": "https://www.facebook.com/games/"}
    if _is_page(token, key):
        return told({"data": [] if fields is None else [app | {"subscribed_fields": fields}]})
    return told({"data": [] if fields is None else [{"whatsapp_business_api_data": app}]})


def unsubscribe(world: World, ask: Ask, token: Token, key: str) -> Answer:
    _owned(token, key)
    with world.lock:
        world.subscriptions.pop(key, None)
    return told({"success": True})


def register(world: World, ask: Ask, token: Token, key: str) -> Answer:
    """Ten times in 72 hours; here, ten times."""
    _, number = visible_number(token, key)
    pin = ask.text("pin")
    if ask.text("messaging_product") != "whatsapp" or len(pin) != PIN_DIGITS or not pin.isdigit():
        raise Refused("bad_parameter")
    with world.lock:
        world.registrations[key] += 1
        if world.registrations[key] > MOST_REGISTRATIONS:
            raise Refused("registered_too_often")
        if number.pin and number.pin != pin:
            raise Refused("wrong_pin")
        world.registered.add(key)
    return told({"success": True})


def _is_page(token: Token, key: str) -> bool:
    return kind_of(token, key) == "page"


def _owned(token: Token, key: str) -> None:
    if _is_page(token, key):
        visible_page(token, key)
    else:
        visible_business(token, key)


def _business_fields(token: Token, key: str) -> list[str]:
    visible_business(token, key)
    return ["(of the app)"]


def _page_fields(ask: Ask, token: Token, key: str) -> list[str]:
    page = visible_page(token, key)
    if token.page != key:
        raise Refused("page_token_needed")
    if "pages_manage_metadata" not in token.granted or not SUBSCRIBING_TASKS & set(page.tasks):
        raise Refused("permission_missing")
    fields = [name for name in ask.text("subscribed_fields").split(",") if name]
    if not fields or not set(fields) <= PAGE_FIELDS:
        raise Refused("bad_fields")
    return fields
