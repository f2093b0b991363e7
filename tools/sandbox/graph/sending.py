"""Messages out: accepted with an id and kept in the ledger."""

import base64
import secrets
from collections.abc import Mapping
from typing import Any

from tools.sandbox.graph.errors import Refused
from tools.sandbox.graph.listing import is_registered, kind_of, visible_number, visible_page
from tools.sandbox.graph.tokens import Token
from tools.sandbox.http_messages import Request, Response, json_response
from tools.sandbox.state import SandboxState


def send(state: SandboxState, request: Request, token: Token, key: str) -> Response:
    send_as = _send_whatsapp if kind_of(token, key) == "phone" else _send_page
    return send_as(state, request, token, key)


def _send_whatsapp(state: SandboxState, request: Request, token: Token, key: str) -> Response:
    _, number = visible_number(token, key)
    if "whatsapp_business_messaging" not in token.granted:
        raise Refused("permission_missing")
    if not is_registered(state, number):
        raise Refused("not_registered")
    to, kind = request.text("to"), request.text("type") or "text"
    if request.text("messaging_product") != "whatsapp" or not to or not isinstance(request.params.get(kind), Mapping):
        raise Refused("bad_parameter")
    wamid = "wamid." + base64.b64encode(b"HB" + secrets.token_bytes(21)).decode()
    _keep(state, key, to, wamid, request.text("biz_opaque_callback_data"), request.params)
    message = {"id": wamid} | ({"message_status": "accepted"} if kind == "template" else {})
    contact = {"input": to, "wa_id": to.lstrip("+")}
    return json_response({"messaging_product": "whatsapp", "contacts": [contact], "messages": [message]})


def _send_page(state: SandboxState, request: Request, token: Token, key: str) -> Response:
    visible_page(token, key)
    if token.page != key:
        raise Refused("page_token_needed")
    recipient, message = request.params.get("recipient"), request.params.get("message")
    if not isinstance(recipient, Mapping) or not isinstance(message, Mapping) or not recipient.get("id"):
        raise Refused("bad_parameter")
    mid = "m_" + secrets.token_urlsafe(24)
    _keep(state, key, str(recipient["id"]), mid, str(message.get("metadata") or ""), request.params)
    return json_response({"recipient_id": recipient["id"], "message_id": mid})


def _keep(state: SandboxState, account: str, to: str, message_id: str, opaque: str, body: Mapping[str, Any]) -> None:
    sent = {name: value for name, value in body.items() if name not in {"access_token", "appsecret_proof"}}
    with state.lock:
        entry = {"account": account, "to": to, "message_id": message_id, "opaque": opaque, "body": sent}
        state.sent.append(entry)
