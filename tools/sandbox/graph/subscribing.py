"""Subscriptions of business accounts and Pages, and the registration of numbers."""

from typing import Final

from tools.sandbox.control.business_app import SYNC_TYPES, app_data
from tools.sandbox.control.people import PEOPLE
from tools.sandbox.graph.errors import Refused
from tools.sandbox.graph.listing import kind_of, visible_business, visible_number, visible_page
from tools.sandbox.graph.tokens import Token
from tools.sandbox.http_messages import Request, Response, json_response
from tools.sandbox.state import SandboxState

SUBSCRIBING_TASKS: Final = {"CREATE_CONTENT", "MANAGE", "MODERATE"}
# A Page has no field `messaging_seen`: only the app's Instagram object has it.
PAGE_FIELDS: Final = {
    "messages",
    "messaging_postbacks",
    "message_deliveries",
    "message_reads",
    "message_echoes",
    "message_reactions",
    "message_edits",
    "messaging_referrals",
    "messaging_handovers",
    "standby",
    "feed",
    "mention",
}
MAX_REGISTRATIONS: Final = 10
PIN_DIGITS: Final = 6


def subscribe(state: SandboxState, request: Request, token: Token, key: str) -> Response:
    """Subscribe a business account or a Page. Repeating the call changes nothing."""
    fields = _page_fields(request, token, key) if _is_page(token, key) else _business_fields(token, key)
    with state.lock:
        state.subscriptions[key] = fields
    return json_response({"success": True})


def subscriptions(state: SandboxState, request: Request, token: Token, key: str) -> Response:
    _owned(token, key)
    with state.lock:
        fields = state.subscriptions.get(key)
    app = {"id": state.config.app_id, "name": "Sandbox", "link": "https://www.facebook.com/games/"}
    if _is_page(token, key):
        return json_response({"data": [] if fields is None else [app | {"subscribed_fields": fields}]})
    return json_response({"data": [] if fields is None else [{"whatsapp_business_api_data": app}]})


def unsubscribe(state: SandboxState, request: Request, token: Token, key: str) -> Response:
    _owned(token, key)
    with state.lock:
        state.subscriptions.pop(key, None)
    return json_response({"success": True})


def register(state: SandboxState, request: Request, token: Token, key: str) -> Response:
    """Register a number. Meta allows ten times in 72 hours, the sandbox ten times in all."""
    _, number = visible_number(token, key)
    pin = request.text("pin")
    if request.text("messaging_product") != "whatsapp" or len(pin) != PIN_DIGITS or not pin.isdigit():
        raise Refused("bad_parameter")
    with state.lock:
        state.registrations[key] += 1
        if state.registrations[key] > MAX_REGISTRATIONS:
            raise Refused("registered_too_often")
        if number.pin and number.pin != pin:
            raise Refused("wrong_pin")
        state.registered.add(key)
    return json_response({"success": True})


def hand_over_app_data(state: SandboxState, request: Request, token: Token, key: str) -> Response:
    """Hand over the contacts or the chats of a number's WhatsApp Business app: each once, as callbacks."""
    visible_number(token, key)
    what = request.text("sync_type")
    if request.text("messaging_product") != "whatsapp" or what not in SYNC_TYPES:
        raise Refused("bad_parameter")
    if not state.business_app.take(key, what):
        raise Refused("bad_parameter")
    owner = PEOPLE[token.person]
    if state.config.callback_url:
        state.post_later(app_data(owner, key, what))
    return json_response({"messaging_product": "whatsapp", "request_id": f"{what}-{key}"})


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


def _page_fields(request: Request, token: Token, key: str) -> list[str]:
    page = visible_page(token, key)
    if token.page != key:
        raise Refused("page_token_needed")
    if "pages_manage_metadata" not in token.granted or not SUBSCRIBING_TASKS & set(page.tasks):
        raise Refused("permission_missing")
    fields = [name for name in request.text("subscribed_fields").split(",") if name]
    if not fields or not set(fields) <= PAGE_FIELDS:
        raise Refused("bad_fields")
    return fields
