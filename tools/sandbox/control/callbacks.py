"""Composes callbacks from the provider to the product, signs the bytes that are sent, and posts them."""

import hashlib
import hmac
import json
import secrets
import time
from collections.abc import Callable
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any, Final
from urllib.parse import urlencode, urlsplit

from tools.sandbox.config import SandboxConfig
from tools.sandbox.control.inbound import comment_change, page_event, whatsapp_message
from tools.sandbox.control.people import PEOPLE

SECONDS: Final = 10.0
WRITER: Final = "491700000001"  # the person of a message that names none
SHOWN: Final = "15550000"
Body = dict[str, Any]
SIGNATURES: Final = ("right", "wrong", "missing", "of_another_app")


def post_callback(config: SandboxConfig, options: Body) -> Body:
    """Compose a callback, post it `times` times, and give the product's answers."""
    url = str(options.get("url") or config.callback_url)
    if options.get("kind") == "verification":
        return verify(config, url, options)
    raw = json.dumps(compose(options)) if options.get("kind") != "raw" else str(options.get("raw", ""))
    body = raw.encode()
    headers = {"Content-Type": "application/json", "User-Agent": "facebookexternalua"}
    headers |= _signature(config, body, str(options.get("signature", "right")))
    answers = [_request("POST", url, body, headers) for _ in range(int(options.get("times", 1)))]
    return {"url": url, "body": raw, "answers": answers}


def post_signed(config: SandboxConfig, body: Body) -> Body:
    """Sign and post a body that is composed already."""
    raw = json.dumps(body).encode()
    headers = {"Content-Type": "application/json", "User-Agent": "facebookexternalua"}
    return _request("POST", config.callback_url, raw, headers | _signature(config, raw, "right"))


def verify(config: SandboxConfig, url: str, options: Body) -> Body:
    """Ask the product to prove that the address is its own."""
    challenge = str(options.get("challenge") or secrets.randbelow(10**9))
    token = str(options.get("verify_token", config.verify_token))
    query = {"hub.mode": "subscribe", "hub.challenge": challenge, "hub.verify_token": token}
    answer = _request("GET", f"{url}?{urlencode(query)}", b"", {})
    return {"url": url, "is_verified": answer["status"] == 200 and answer["text"] == challenge, "answers": [answer]}


def _signature(config: SandboxConfig, body: bytes, how: str) -> dict[str, str]:
    if how == "missing":
        return {}
    secret = config.app_secret if how == "right" else "another app's secret"
    signed = body + b" " if how == "wrong" else body
    return {"X-Hub-Signature-256": "sha256=" + hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()}


def _request(method: str, url: str, body: bytes, headers: dict[str, str]) -> Body:
    parts = urlsplit(url)
    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=SECONDS)
    started = time.monotonic()
    try:
        connection.request(method, (parts.path or "/") + (f"?{parts.query}" if parts.query else ""), body, headers)
        response = connection.getresponse()
        status, text = response.status, response.read(10_000).decode(errors="replace")
    except (OSError, HTTPException) as error:
        status, text = 0, type(error).__name__
    finally:
        connection.close()
    return {"status": status, "text": text, "ms": round((time.monotonic() - started) * 1000, 1)}


# Composing --------------------------------------------------------------------------------------------


def compose(options: Body) -> Body:
    """Give the body of a callback. An unknown `kind` raises `KeyError`."""
    return KINDS[str(options.get("kind"))](options)


def _given(options: Body) -> Body:
    return {"object": options.get("object", "whatsapp_business_account"), "entry": options.get("entry", [])}


def _message(options: Body) -> Body:
    """Compose the callback for a person's messages or actions, `count` of them."""
    account, platform = str(options["account"]), options.get("platform", "whatsapp")
    given = {"person": "" if options.get("user_id") else WRITER, **options}
    many = range(int(options.get("count", 1)))
    if platform != "whatsapp":
        events = [page_event(given) for _ in many]
        return _page_events(options, str(given["person"] or WRITER), events)
    found = [whatsapp_message(given) for _ in many]
    value = {"contacts": found[0]["contacts"], "messages": [one for each in found for one in each["messages"]]}
    return _whatsapp(options, "messages", of_number(account) | value)


def _comment(options: Body) -> Body:
    """Compose the callback about comments on a post, `count` of them."""
    given = {"platform": "facebook", "person": WRITER, **options}
    changes = [comment_change(given) for _ in range(int(options.get("count", 1)))]
    at = int(float(options.get("at") or time.time()))
    entry = {"id": str(given["account"]), "time": at, "changes": changes}
    return {"object": "instagram" if given["platform"] == "instagram" else "page", "entry": [entry]}


def _status(options: Body) -> Body:
    status = {
        "id": str(options["message_id"]),
        "status": str(options.get("status", "delivered")),
        "timestamp": str(int(time.time())),
        "recipient_id": str(options.get("person", "491700000001")),
    }
    if options.get("opaque"):
        status["biz_opaque_callback_data"] = str(options["opaque"])
    errors = [{"code": options["code"], "title": "Failed", "message": "Failed"}] if options.get("code") else None
    extra = {"errors": errors} if errors else {}
    return _whatsapp(options, "messages", of_number(str(options["account"])) | {"statuses": [status | extra]})


def _removed(options: Body) -> Body:
    return _whatsapp(options, "account_update", {"event": str(options.get("event", "PARTNER_REMOVED"))})


def _revoked(options: Body) -> Body:
    value = {"verb": "revoke", "target_ids": [str(options["account"])]}
    change = {"field": str(options.get("permission", "pages_messaging")), "value": value}
    return {"object": "permissions", "entry": [{"id": "0", "time": int(time.time()), "changes": [change]}]}


def _quality(options: Body) -> Body:
    value = {
        "display_phone_number": str(options["shown"]),
        "event": str(options.get("event", "FLAGGED")),
        "current_limit": str(options.get("limit", "TIER_1K")),
    }
    return _whatsapp(options, "phone_number_quality_update", value)


def _template(options: Body) -> Body:
    """Compose the callback about a template's new status or category, or its removal."""
    before, after = options.get("before") or {}, options["after"]
    value = {
        "message_template_id": int(after.get("id", "0")),
        "message_template_name": after["name"],
        "message_template_language": after["language"],
    }
    if before.get("category") not in (None, after["category"]):
        change = {"previous_category": before["category"], "new_category": after["category"]}
        return _whatsapp(options, "template_category_update", value | change)
    told = value | {"event": options.get("event", after["status"]), "reason": after.get("rejected_reason", "NONE")}
    return _whatsapp(options, "message_template_status_update", told)


def of_number(account: str, shown: str = SHOWN) -> Body:
    metadata = {"phone_number_id": account, "display_phone_number": shown}
    return {"messaging_product": "whatsapp", "metadata": metadata}


def _whatsapp(options: Body, field: str, value: Body) -> Body:
    return whatsapp_body(str(options.get("account", "")), field, value, container=str(options.get("container") or ""))


def whatsapp_body(account: str, field: str, value: Body, *, container: str = "") -> Body:
    """Give the body about one change of a number, or of another business account."""
    changes = [{"field": field, "value": value}]
    entry = {"id": container or container_of(account), "time": int(time.time()), "changes": changes}
    return {"object": "whatsapp_business_account", "entry": [entry]}


def _page_events(options: Body, person: str, events: list[Body]) -> Body:
    account = str(options["account"])
    now = int(float(options.get("at") or time.time()) * 1000)
    is_instagram = options.get("platform") == "instagram"
    messaging = []
    for event in events:
        is_echo = event.get("message", {}).get("is_echo")
        sender, recipient = (account, person) if is_echo else (person, account)
        messaging.append({"sender": {"id": sender}, "recipient": {"id": recipient}, "timestamp": now} | event)
    entry = {"id": account, "time": now, "messaging": messaging}
    return {"object": "instagram" if is_instagram else "page", "entry": [entry]}


def container_of(account: str) -> str:
    """Give the business account of a number; for any other id, the id itself."""
    everybody = (business for person in PEOPLE.values() for business in person.businesses)
    return next((item.id for item in everybody if any(number.id == account for number in item.numbers)), account)


def _echo(options: Body) -> Body:
    """Compose the callback about a message that the business has sent from its phone."""
    account, number = str(options["account"]), shown_number(str(options["account"]))
    [sent] = whatsapp_message({**options, "person": number})["messages"]
    echoes = [sent | {"to": str(options.get("person", WRITER))}]
    return _whatsapp(options, "smb_message_echoes", of_number(account, number) | {"message_echoes": echoes})


def shown_number(account: str) -> str:
    """Give the digits of a number."""
    businesses = (business for person in PEOPLE.values() for business in person.businesses)
    numbers = (number for business in businesses for number in business.numbers if number.id == account)
    return next(("".join(filter(str.isdigit, number.shown)) for number in numbers), SHOWN)


KINDS: Final[dict[str, Callable[[Body], Body]]] = {
    "given": _given,
    "message": _message,
    "comment": _comment,
    "status": _status,
    "removed": _removed,
    "revoked": _revoked,
    "echo": _echo,
    "quality": _quality,
    "template": _template,
}
