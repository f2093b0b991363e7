"""Callbacks from the provider to the product: composed, signed over the bytes that are sent, and posted."""

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
from tools.sandbox.people import PEOPLE

SECONDS: Final = 10.0
Body = dict[str, Any]
SIGNATURES: Final = ("right", "wrong", "missing", "of_another_app")


def post_callback(config: SandboxConfig, told: Body) -> Body:
    """Compose what was told, post it so often as `times` says, and tell what the product answered."""
    url = str(told.get("url") or config.callback_url)
    if told.get("kind") == "verification":
        return verify(config, url, told)
    raw = json.dumps(compose(told)) if told.get("kind") != "raw" else str(told.get("raw", ""))
    body = raw.encode()
    headers = {"Content-Type": "application/json", "User-Agent": "facebookexternalua"}
    headers |= _signature(config, body, str(told.get("signature", "right")))
    answers = [_request("POST", url, body, headers) for _ in range(int(told.get("times", 1)))]
    return {"url": url, "body": raw, "answers": answers}


def verify(config: SandboxConfig, url: str, told: Body) -> Body:
    """Ask the product to prove that the address is its own."""
    challenge = str(told.get("challenge") or secrets.randbelow(10**9))
    token = str(told.get("verify_token", config.verify_token))
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


def compose(told: Body) -> Body:
    """Give the body of a kind of callback; unknown kinds raise KeyError."""
    return KINDS[str(told.get("kind"))](told)


def _given(told: Body) -> Body:
    return {"object": told.get("object", "whatsapp_business_account"), "entry": told.get("entry", [])}


def _message(told: Body) -> Body:
    account, text = str(told["account"]), str(told.get("text", "Hi \u00e9"))
    person = str(told.get("person", "491700000001"))
    if told.get("platform", "whatsapp") != "whatsapp":
        message = {"mid": "m_" + secrets.token_hex(8), "text": text}
        return _page_event(told, person, {"message": message})
    value = {
        "contacts": [{"profile": {"name": "Ann"}, "wa_id": person}],
        "messages": [
            {
                "from": person,
                "id": "wamid." + secrets.token_hex(8),
                "timestamp": str(int(time.time())),
                "type": "text",
                "text": {"body": text},
            }
        ],
    }
    return _whatsapp(told, "messages", _of_number(account) | value)


def _status(told: Body) -> Body:
    status = {
        "id": str(told["message_id"]),
        "status": str(told.get("status", "delivered")),
        "timestamp": str(int(time.time())),
        "recipient_id": str(told.get("person", "491700000001")),
    }
    if told.get("opaque"):
        status["biz_opaque_callback_data"] = str(told["opaque"])
    errors = [{"code": told["code"], "title": "Failed", "message": "Failed"}] if told.get("code") else None
    extra = {"errors": errors} if errors else {}
    return _whatsapp(told, "messages", _of_number(str(told["account"])) | {"statuses": [status | extra]})


def _removed(told: Body) -> Body:
    return _whatsapp(told, "account_update", {"event": str(told.get("event", "PARTNER_REMOVED"))})


def _revoked(told: Body) -> Body:
    value = {"verb": "revoke", "target_ids": [str(told["account"])]}
    change = {"field": str(told.get("permission", "pages_messaging")), "value": value}
    return {"object": "permissions", "entry": [{"id": "0", "time": int(time.time()), "changes": [change]}]}


def _quality(told: Body) -> Body:
    value = {
        "display_phone_number": str(told["shown"]),
        "event": str(told.get("event", "FLAGGED")),
        "current_limit": str(told.get("limit", "TIER_1K")),
    }
    return _whatsapp(told, "phone_number_quality_update", value)


def _of_number(account: str) -> Body:
    metadata = {"phone_number_id": account, "display_phone_number": "15550000"}
    return {"messaging_product": "whatsapp", "metadata": metadata}


def _whatsapp(told: Body, field: str, value: Body) -> Body:
    container = str(told.get("container") or container_of(str(told.get("account", ""))))
    entry = {"id": container, "time": int(time.time()), "changes": [{"field": field, "value": value}]}
    return {"object": "whatsapp_business_account", "entry": [entry]}


def _page_event(told: Body, person: str, event: Body) -> Body:
    account = str(told["account"])
    now = int(time.time() * 1000)
    ends = {"sender": {"id": person}, "recipient": {"id": account}, "timestamp": now}
    is_instagram = told.get("platform") == "instagram"
    entry = {"id": account, "time": now, "messaging": [ends | event]}
    return {"object": "instagram" if is_instagram else "page", "entry": [entry]}


def container_of(account: str) -> str:
    """Find the business account of a number."""
    everybody = (business for person in PEOPLE.values() for business in person.businesses)
    return next((item.id for item in everybody if any(number.id == account for number in item.numbers)), account)


KINDS: Final[dict[str, Callable[[Body], Body]]] = {
    "given": _given,
    "message": _message,
    "status": _status,
    "removed": _removed,
    "revoked": _revoked,
    "quality": _quality,
}
