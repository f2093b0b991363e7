"""Messages out: accepted with an id and kept in the ledger."""

import base64
import secrets
from collections.abc import Mapping
from typing import Any

from tools.sandbox.answers import Answer, Ask, told
from tools.sandbox.errors import Refused
from tools.sandbox.listing import is_registered, kind_of, visible_number, visible_page
from tools.sandbox.tokens import Token
from tools.sandbox.world import World


def send(world: World, ask: Ask, token: Token, key: str) -> Answer:
    return (
        _send_whatsapp(world, ask, token, key) if kind_of(token, key) == "phone" else _send_page(world, ask, token, key)
    )


def _send_whatsapp(world: World, ask: Ask, token: Token, key: str) -> Answer:
    _, number = visible_number(token, key)
    if "whatsapp_business_messaging" not in token.granted:
        raise Refused("permission_missing")
    if not is_registered(world, number):
        raise Refused("not_registered")
    to, kind = ask.text("to"), ask.text("type") or "text"
    if ask.text("messaging_product") != "whatsapp" or not to or not isinstance(ask.given.get(kind), Mapping):
        raise Refused("bad_parameter")
    wamid = "wamid." + base64.b64encode(b"HB" + secrets.token_bytes(21)).decode()
    _keep(world, key, to, wamid, ask.text("biz_opaque_callback_data"), ask.given)
    message = {"id": wamid} | ({"message_status": "accepted"} if kind == "template" else {})
    contact = {"input": to, "wa_id": to.lstrip("+")}
    return told({"messaging_product": "whatsapp", "contacts": [contact], "messages": [message]})


def _send_page(world: World, ask: Ask, token: Token, key: str) -> Answer:
    visible_page(token, key)
    if token.page != key:
        raise Refused("page_token_needed")
    recipient, message = ask.given.get("recipient"), ask.given.get("message")
    if not isinstance(recipient, Mapping) or not isinstance(message, Mapping) or not recipient.get("id"):
        raise Refused("bad_parameter")
    mid = "m_" + secrets.token_urlsafe(24)
    _keep(world, key, str(recipient["id"]), mid, str(message.get("metadata") or ""), ask.given)
    return told({"recipient_id": recipient["id"], "message_id": mid})


def _keep(world: World, account: str, to: str, message_id: str, opaque: str, body: Mapping[str, Any]) -> None:
    sent = {name: value for name, value in body.items() if name not in {"access_token", "appsecret_proof"}}
    with world.lock:
        entry = {"account": account, "to": to, "message_id": message_id, "opaque": opaque, "body": sent}
        world.sent.append(entry)
