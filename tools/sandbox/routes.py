"""Which call a request is, who makes it, and what answers it."""

import hashlib
import hmac
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from tools.sandbox import listing, oauth, sending, subscribing
from tools.sandbox.answers import Answer, Ask
from tools.sandbox.errors import Refused, refusal
from tools.sandbox.people import PEOPLE, Person
from tools.sandbox.tokens import Token, read
from tools.sandbox.world import World

VERSION: Final = re.compile(r"^/v\d+\.\d+(?=/)")
EDGES: Final[dict[tuple[str, str], tuple[str, Callable[[World, Ask, Token, str], Answer]]]] = {
    ("GET", "phone_numbers"): ("phone_numbers", listing.phone_numbers),
    ("POST", "subscribed_apps"): ("subscribe", subscribing.subscribe),
    ("GET", "subscribed_apps"): ("subscriptions", subscribing.subscriptions),
    ("DELETE", "subscribed_apps"): ("unsubscribe", subscribing.unsubscribe),
    ("POST", "register"): ("register", subscribing.register),
    ("POST", "messages"): ("send", sending.send),
}
MINE: Final[dict[str, tuple[str, Callable[[World, Ask, Token], Answer]]]] = {
    "accounts": ("me_accounts", listing.me_accounts),
    "businesses": ("me_businesses", listing.me_businesses),
    "permissions": ("permissions", oauth.permissions),
}
PORTFOLIO_EDGES: Final = {"client_whatsapp_business_accounts", "owned_whatsapp_business_accounts"}


@dataclass(frozen=True, slots=True)
class Route:
    """`call` names it for faults and the ledger; `answer` does it."""

    call: str
    person: Person | None
    answer: Callable[[], Answer]


def find(world: World, ask: Ask) -> Route:
    """Find what a Graph call wants; an unknown one gets the usual refusal."""
    words = VERSION.sub("", ask.path).strip("/").split("/")
    if words == ["oauth", "access_token"] and ask.method in {"GET", "POST"}:
        return _exchange(world, ask)
    if words == ["debug_token"] and ask.method == "GET":
        person = _holder(world, ask.text("input_token"))
        return Route("debug_token", person, lambda: oauth.debug_token(world, ask))
    person = _holder(world, ask.token)
    call, answer = _of_customer(ask, words, person)
    return Route(call, person, lambda: answer(world, ask, _bearer(world, ask)))


def answered(route: Route, token: str) -> Answer:
    """Do it and turn a refusal into its body."""
    try:
        return route.answer()
    except Refused as refused:
        return refusal(refused.name, refused.details.get("token", token))


def _exchange(world: World, ask: Ask) -> Route:
    if ask.text("grant_type") == "fb_exchange_token":
        person = _holder(world, ask.text("fb_exchange_token"))
        return Route("lengthen", person, lambda: oauth.lengthen(world, ask))
    code = world.codes.get(ask.text("code"))
    person = PEOPLE.get(code.token.person) if code else None
    return Route("exchange", person, lambda: oauth.exchange(world, ask))


def _of_customer(
    ask: Ask, words: list[str], person: Person | None
) -> tuple[str, Callable[[World, Ask, Token], Answer]]:
    if ask.method == "GET" and len(words) == 2 and words[0] == "me" and words[1] in MINE:
        return MINE[words[1]]
    key, edge = words[0], words[1] if len(words) == 2 else ""
    if ask.method == "GET" and edge in PORTFOLIO_EDGES:
        return "business_edge", lambda world, ask, token: listing.business_edge(world, ask, token, key, edge)
    if ask.method == "GET" and len(words) == 1 and key.isdigit():
        return _node_call(person, key), lambda world, ask, token: listing.node(world, ask, token, key)
    call, handler = EDGES.get((ask.method, edge), ("unknown", _nothing))
    return call, lambda world, ask, token: handler(world, ask, token, key)


def _node_call(person: Person | None, key: str) -> str:
    if person is None:
        return "page"
    return listing.kind_of(Token(person=person.key, kind="", granted=()), key)


def _nothing(world: World, ask: Ask, token: Token, key: str) -> Answer:
    raise Refused("gone")


def _bearer(world: World, ask: Ask) -> Token:
    """Give the caller's token, checked, with its proof if one came along."""
    if not ask.token:
        raise Refused("no_token")
    token = world.read(ask.token)
    proof = ask.text("appsecret_proof")
    expected = hmac.new(world.config.app_secret.encode(), ask.token.encode(), hashlib.sha256).hexdigest()
    if proof and not hmac.compare_digest(proof.encode(), expected.encode()):
        raise Refused("bad_proof")
    return token


def _holder(world: World, token: str) -> Person | None:
    try:
        return PEOPLE.get(read(token, world.config.app_secret).person) if token else None
    except Refused:
        return None
