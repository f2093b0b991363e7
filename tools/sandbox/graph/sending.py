"""Takes the product's messages: checks them as the API does, accepts them with an id, and keeps them in the ledger."""

import base64
import secrets
from collections.abc import Mapping
from typing import Any, Final

from tools.sandbox.control.statuses import COURSES, Accepted
from tools.sandbox.graph.errors import Refused, usage_of
from tools.sandbox.graph.listing import is_registered, kind_of, visible_number, visible_page
from tools.sandbox.graph.message_checks import check_page_message, check_whatsapp
from tools.sandbox.graph.sending_errors import ENDINGS, ERRORS, SendRefused, Wish, refusal, wishes_of
from tools.sandbox.graph.tokens import Token
from tools.sandbox.http_messages import Request, Response, json_response
from tools.sandbox.state import SandboxState

LONGEST_COMMENT: Final = 8_000
SECRET_NAMES: Final = frozenset({"access_token", "appsecret_proof"})


def send(state: SandboxState, request: Request, token: Token, key: str) -> Response:
    send_as = _send_whatsapp if kind_of(token, key) == "phone" else _send_page
    account = visible_number(token, key)[0].id if send_as is _send_whatsapp else key
    try:
        answer = send_as(state, request, token, key)
    except SendRefused as refused:
        answer = refusal(refused.code, refused.details)
    usage = usage_of(state.scenario.usage, account)
    return Response(answer.status, answer.body, {**answer.headers, **usage}) if usage else answer


def _send_whatsapp(state: SandboxState, request: Request, token: Token, key: str) -> Response:
    business, number = visible_number(token, key)
    if "whatsapp_business_messaging" not in token.granted:
        raise Refused("permission_missing")
    if not is_registered(state, number):
        raise Refused("not_registered")
    if request.text("messaging_product") != "whatsapp":
        raise Refused("bad_parameter")
    if request.text("status") == "read":
        return _mark(state, request, key)
    to, user_id, kind = request.text("to"), request.text("recipient"), request.text("type") or "text"
    if not (to or user_id) or not isinstance(request.params.get(kind), Mapping):
        raise Refused("bad_parameter")
    person = to.lstrip("+") or user_id
    opaque = request.text("biz_opaque_callback_data")
    wishes = _refuse_what_asks_for_it(state, request.params, person, opaque)
    template = check_whatsapp(state, business.id, request.params, kind)
    if kind != "template" and not state.is_open(key, person):
        raise SendRefused("131047")
    wamid = "wamid." + base64.b64encode(b"HB" + secrets.token_bytes(21)).decode()
    category = str(template.get("category", "service")).lower() if template else "service"
    one = Accepted("whatsapp", key, person, not to, wamid, opaque, category, "")
    contact = {"input": to, "wa_id": to.lstrip("+")} if to else {"input": user_id, "user_id": user_id}
    message = {"id": wamid}
    if kind == "template":
        message["message_status"] = "held_for_quality_assessment" if Wish("held") in wishes else "accepted"
    answer = {"messaging_product": "whatsapp", "contacts": [contact], "messages": [message]}
    return _accept(state, one, request.params, wishes, answer)


def _send_page(state: SandboxState, request: Request, token: Token, key: str) -> Response:
    page = visible_page(token, key)
    if token.page != key:
        raise Refused("page_token_needed")
    recipient, message = request.params.get("recipient"), request.params.get("message")
    if not isinstance(recipient, Mapping) or len(recipient) != 1 or not recipient.keys() & {"id", "comment_id"}:
        raise Refused("bad_parameter")
    if request.text("sender_action"):
        return _mark(state, request, key)
    if not isinstance(message, Mapping):
        raise Refused("bad_parameter")
    comment = str(recipient.get("comment_id") or "")
    person, opaque = str(recipient.get("id") or f"author of {comment}"), str(message.get("metadata") or "")
    is_instagram = person in state.instagram_people or "messaging_type" not in request.params
    platform, account = ("instagram", page.instagram_id) if is_instagram else ("facebook", key)
    wishes = _refuse_what_asks_for_it(state, request.params, person, opaque)
    check_page_message(platform, message)
    if comment and not state.answer_comment(comment):
        raise SendRefused("10900")
    if not comment and not state.is_open(account, person):
        raise SendRefused("10/2534022" if is_instagram else "10/2018278")
    mid = "m_" + secrets.token_urlsafe(24)
    one = Accepted(platform, account, person, False, mid, opaque, "service", str(message.get("text") or ""))
    return _accept(state, one, request.params, wishes, {"recipient_id": person, "message_id": mid}, key)


def publish_reply(state: SandboxState, request: Request, token: Token, comment: str) -> Response:
    """Publish a text below a comment, as its Page or account."""
    if not token.page:
        raise Refused("page_token_needed")
    if not comment or not 0 < len(request.text("message")) <= LONGEST_COMMENT:
        raise Refused("bad_parameter")
    body = {name: value for name, value in request.params.items() if name not in SECRET_NAMES}
    reply = secrets.token_hex(8)
    state.keep_sent(account=token.page, to=comment, message_id=reply, opaque="", body=body)
    return json_response({"id": reply})


def _refuse_what_asks_for_it(state: SandboxState, body: Mapping[str, Any], person: str, opaque: str) -> list[Wish]:
    """Raise `SendRefused` for an error that the message asks for, as often as it asks; give all of its wishes."""
    wishes = wishes_of(body, person)
    for wish in wishes:
        if wish.what in ERRORS and state.still_wishes(opaque or person, wish.what, wish.times):
            raise SendRefused(wish.what)
    return wishes


def _accept(
    state: SandboxState,
    one: Accepted,
    body: Mapping[str, Any],
    wishes: list[Wish],
    answer: dict[str, Any],
    sender: str = "",
) -> Response:
    sent = {name: value for name, value in body.items() if name not in SECRET_NAMES}
    state.keep_sent(
        account=sender or one.account,
        to=str(body.get("to") or one.person),
        message_id=one.message_id,
        opaque=one.opaque,
        body=sent,
    )
    courses = [wish.what for wish in wishes if wish.what in COURSES]
    state.play_statuses(one, courses[0] if courses else state.scenario.statuses)
    response = json_response(answer)
    endings = [wish.what for wish in wishes if wish.what in ENDINGS]
    return Response(response.status, response.body, {"X-Sandbox-Ending": endings[0]}) if endings else response


def _mark(state: SandboxState, request: Request, key: str) -> Response:
    """Keep a read mark or a typing indicator."""
    body = {name: value for name, value in request.params.items() if name not in SECRET_NAMES}
    with state.lock:
        state.marks.append({"account": key, "body": body})
    if "recipient" in body:
        return json_response({"recipient_id": body["recipient"]["id"]})
    return json_response({"success": True})
