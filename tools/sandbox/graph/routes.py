"""Finds out which Graph call a request is, whose token makes it, and which function answers it."""

import hashlib
import hmac
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from tools.sandbox.control.people import PEOPLE, Person
from tools.sandbox.graph import listing, media, oauth, people_profiles, sending, subscribing, templates
from tools.sandbox.graph.errors import Refused, error_response
from tools.sandbox.graph.tokens import Token, read
from tools.sandbox.http_messages import Request, Response
from tools.sandbox.state import SandboxState

VERSION: Final = re.compile(r"^/v\d+\.\d+(?=/)")
MEDIA_ID_DIGITS: Final = 16
EDGES: Final[dict[tuple[str, str], tuple[str, Callable[[SandboxState, Request, Token, str], Response]]]] = {
    ("GET", "phone_numbers"): ("phone_numbers", listing.phone_numbers),
    ("POST", "subscribed_apps"): ("subscribe", subscribing.subscribe),
    ("GET", "subscribed_apps"): ("subscriptions", subscribing.subscriptions),
    ("DELETE", "subscribed_apps"): ("unsubscribe", subscribing.unsubscribe),
    ("POST", "register"): ("register", subscribing.register),
    ("POST", "smb_app_data"): ("app_data", subscribing.hand_over_app_data),
    ("POST", "messages"): ("send", sending.send),
    ("POST", "comments"): ("publish", sending.publish_reply),
    ("POST", "replies"): ("publish", sending.publish_reply),
    ("POST", "media"): ("upload", media.upload),
    ("GET", "message_templates"): ("templates", templates.message_templates),
}
ME_EDGES: Final[dict[str, tuple[str, Callable[[SandboxState, Request, Token], Response]]]] = {
    "accounts": ("me_accounts", listing.me_accounts),
    "businesses": ("me_businesses", listing.me_businesses),
    "permissions": ("permissions", oauth.permissions),
}
PORTFOLIO_EDGES: Final = {"client_whatsapp_business_accounts", "owned_whatsapp_business_accounts"}


@dataclass(frozen=True, slots=True)
class Route:
    """`call` is the name for faults and the ledger; `answer` executes the call."""

    call: str
    person: Person | None
    answer: Callable[[], Response]


def find(state: SandboxState, request: Request) -> Route:
    """Find the route of a Graph call. An unknown call gets the error `gone`."""
    segments = VERSION.sub("", request.path).strip("/").split("/")
    if segments == ["oauth", "access_token"] and request.method in {"GET", "POST"}:
        return _exchange(state, request)
    if segments == ["debug_token"] and request.method == "GET":
        person = _token_owner(state, request.text("input_token"))
        return Route("debug_token", person, lambda: oauth.debug_token(state, request))
    person = _token_owner(state, request.token)
    call, answer = _of_customer(request, segments, person)
    return Route(call, person, lambda: answer(state, request, _authenticate(state, request)))


def answered(route: Route, token: str) -> Response:
    """Execute the call; turn a refusal into its error response."""
    try:
        return route.answer()
    except Refused as refused:
        return error_response(refused.name, refused.details.get("token", token))


def _exchange(state: SandboxState, request: Request) -> Route:
    if request.text("grant_type") == "fb_exchange_token":
        person = _token_owner(state, request.text("fb_exchange_token"))
        return Route("lengthen", person, lambda: oauth.lengthen(state, request))
    code = state.codes.get(request.text("code"))
    person = PEOPLE.get(code.token.person) if code else None
    return Route("exchange", person, lambda: oauth.exchange(state, request))


def _of_customer(
    request: Request, segments: list[str], person: Person | None
) -> tuple[str, Callable[[SandboxState, Request, Token], Response]]:
    if request.method == "GET" and len(segments) == 2 and segments[0] == "me" and segments[1] in ME_EDGES:
        return ME_EDGES[segments[1]]
    key, edge = segments[0], segments[1] if len(segments) == 2 else ""
    if request.method == "GET" and edge in PORTFOLIO_EDGES:
        return "business_edge", lambda state, request, token: listing.business_edge(state, request, token, key, edge)
    if request.method == "GET" and len(segments) == 1 and len(key) == MEDIA_ID_DIGITS:
        return "media", lambda state, request, token: media.look_up(state, request, token, key)
    if request.method == "GET" and len(segments) == 1 and key.startswith("9") and key.isdigit():
        return "profile", lambda state, request, token: people_profiles.profile(state, request, token, key)
    if request.method == "GET" and len(segments) == 1 and key.isdigit():
        return _node_call(person, key), lambda state, request, token: listing.node(state, request, token, key)
    call, handler = EDGES.get((request.method, edge), ("unknown", _unknown_call))
    return call, lambda state, request, token: handler(state, request, token, key)


def _node_call(person: Person | None, key: str) -> str:
    if person is None:
        return "page"
    return listing.kind_of(Token(person=person.key, kind="", granted=()), key)


def _unknown_call(state: SandboxState, request: Request, token: Token, key: str) -> Response:
    raise Refused("gone")


def _authenticate(state: SandboxState, request: Request) -> Token:
    """Give the caller's token, checked together with its proof if there is one."""
    if not request.token:
        raise Refused("no_token")
    token = state.read_token(request.token)
    proof = request.text("appsecret_proof")
    expected = hmac.new(state.config.app_secret.encode(), request.token.encode(), hashlib.sha256).hexdigest()
    if proof and not hmac.compare_digest(proof.encode(), expected.encode()):
        raise Refused("bad_proof")
    return token


def _token_owner(state: SandboxState, token: str) -> Person | None:
    try:
        return PEOPLE.get(read(token, state.config.app_secret).person) if token else None
    except Refused:
        return None
