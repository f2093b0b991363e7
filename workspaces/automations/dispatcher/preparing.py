"""Turns a planned call into a request, and the answer into a result."""

import logging
import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

import orjson
from requests.structures import CaseInsensitiveDict

from config.encryption import UnreadableSecret
from config.http import error_codes
from config.http.transfer import Headers, Result
from workspaces.automations.models import AiAccount, OutsideCall
from workspaces.automations.providers.ai import (
    KEY_REFUSED,
    AiFault,
    AiResult,
    Prompt,
    Usage,
    cost_of,
    read_answer,
    request_of,
    worst_cost,
)
from workspaces.automations.services.outside_calls import CallResult

logger = logging.getLogger(__name__)

HTTP_MS: Final = 10_000
AI_MS: Final = 20_000
# A call that was not answered, or was answered with 429 or 5xx, is made once more.
MOST_ATTEMPTS: Final = 2
AGAIN_AFTER: Final = timedelta(seconds=1)
LONGEST_AGAIN_AFTER: Final = timedelta(seconds=15)
METHODS: Final = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE"})
MOST_HEADERS: Final = 32
MOST_HEADER_BYTES: Final = 8 * 1024
HEADER_NAME: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
HEADER_VALUE: Final = re.compile(r"[\x20-\x7e\t]+")
# The client writes these itself.
OUR_HEADERS: Final = frozenset(
    {"host", "content-length", "transfer-encoding", "connection", "expect", "accept-encoding", "upgrade", "te"}
    | {"trailer", "proxy-authorization", "proxy-connection", "idempotency-key", "user-agent"}
)
USER_AGENT: Final = "Automations/1.0"
TEXT_TYPES: Final = re.compile(
    r"text/[\w.+-]+|application/(?:[\w.-]+\+)?(?:json|xml)|application/x-www-form-urlencoded"
)
MOST_TOKENS: Final = {OutsideCall.Kind.ANSWER: 800, OutsideCall.Kind.CLASSIFY: 200, OutsideCall.Kind.EXTRACT: 600}


class CallRefused(Exception):
    """A call that cannot be made; `code` says why."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass(frozen=True, slots=True)
class PreparedCall:
    """A request that is ready to be sent. A.I. calls have an account, a prompt and their worst cost."""

    call_id: int
    tries: int
    url: str
    method: str
    headers: Headers
    body: bytes
    total_ms: int
    kind: str
    account: AiAccount | None = None
    key_since: datetime | None = None
    prompt: Prompt | None = None
    worst_cost: int = 0


def prepare(call: OutsideCall, account: AiAccount | None) -> PreparedCall:
    """Write the request of the next try of a call. Raises `CallRefused`."""
    try:
        written = call.request
        if written is None:
            raise CallRefused("too_large")
        request = orjson.loads(written)
        if call.kind == OutsideCall.Kind.HTTP:
            return _http(call, request)
        if account is None:
            raise CallRefused("no_account")
        return _ai(call, request, account)
    except UnreadableSecret as error:
        logger.error("the secret of an outside call is unreadable", extra={"row": call.pk})
        raise CallRefused("unreadable") from error
    except (KeyError, TypeError, ValueError) as error:
        raise CallRefused("bad_request") from error


def _http(call: OutsideCall, request: dict[str, Any]) -> PreparedCall:
    if request["method"] not in METHODS:
        raise CallRefused("bad_request")
    body = request["body"].encode() if request["method"] != "GET" else b""
    own = (("Idempotency-Key", f"{call.run_uuid}-{call.seq}"), ("User-Agent", USER_AGENT))
    return PreparedCall(
        call_id=call.pk,
        tries=call.tries + 1,
        url=request["url"],
        method=request["method"],
        headers=(*_headers(request["headers"], body), *own),
        body=body,
        total_ms=HTTP_MS,
        kind=call.kind,
    )


def _headers(given: list[list[str]], body: bytes) -> Headers:
    """Return the flow's headers, without those that are the client's, and a type for the body."""
    headers = tuple((name, value.strip()) for name, value in given if value.strip() and name.lower() not in OUR_HEADERS)
    size = sum(len(name) + len(value) for name, value in headers)
    is_well_formed = all(HEADER_NAME.fullmatch(name) and HEADER_VALUE.fullmatch(value) for name, value in headers)
    if len(headers) > MOST_HEADERS or size > MOST_HEADER_BYTES or not is_well_formed:
        raise CallRefused("bad_header")
    if any(name.lower() == "content-type" for name, _ in headers):
        return headers
    is_json = body.lstrip()[:1] in {b"{", b"["}
    return (*headers, ("Content-Type", "application/json" if is_json else "text/plain; charset=utf-8"))


def _ai(call: OutsideCall, request: dict[str, Any], account: AiAccount) -> PreparedCall:
    prompt = Prompt(
        system=request["instructions"],
        schema=request["schema"],
        max_tokens=MOST_TOKENS[OutsideCall.Kind(call.kind)],
        message=request["message"],
        history=[(who, text) for who, text in request["history"]],
        facts=request["facts"],
        needs_facts=call.kind == OutsideCall.Kind.ANSWER,
    )
    written = request_of(account, prompt, is_plain=call.tries > 0)
    return PreparedCall(
        call_id=call.pk,
        tries=call.tries + 1,
        url=written.url,
        method="POST",
        headers=written.headers,
        body=written.body,
        total_ms=AI_MS,
        kind=call.kind,
        account=account,
        key_since=account.key_changed_at,
        prompt=prompt,
        worst_cost=worst_cost(account, written, prompt),
    )


# Results ---------------------------------------------------------------------------------------------

# Nobody has read anything of these requests, so they cost nothing.
UNSENT: Final = frozenset(
    {error_codes.DNS, error_codes.BLOCKED_ADDRESS, error_codes.REFUSED, error_codes.CONNECT_TIMEOUT, error_codes.TLS}
)
PASSING: Final = (UNSENT - {error_codes.BLOCKED_ADDRESS}) | {error_codes.CLOSED}
HTTP_CODES: Final = {error_codes.DNS: "unreachable", error_codes.BLOCKED_ADDRESS: "address_refused"}


def result_of(prepared: PreparedCall, result: Result) -> CallResult:
    """Read the answer to a call."""
    if prepared.account is None or prepared.prompt is None:
        return _http_result(prepared, result)
    try:
        answer = read_answer(prepared.account, prepared.prompt, result)
    except AiFault as fault:
        return _fault_result(prepared, fault, result)
    return _ai_result(prepared, answer)


def refused(prepared: PreparedCall, code: str, *, is_passing: bool = False) -> CallResult:
    """Return the result of a call whose address may not be called, or has none now."""
    health = "outage" if prepared.account is not None and is_passing else ""
    again = AGAIN_AFTER if is_passing and prepared.tries < MOST_ATTEMPTS else None
    return CallResult(prepared.call_id, prepared.tries, code=code, again_after=again, health=health)


def _ai_result(prepared: PreparedCall, answer: AiResult) -> CallResult:
    assert prepared.account is not None  # noqa: S101  # the caller has checked it
    return CallResult(
        prepared.call_id,
        prepared.tries,
        result=answer.data,
        cost=cost_of(prepared.account, answer.usage) if answer.usage else prepared.worst_cost,
        input_tokens=answer.input_tokens,
        output_tokens=answer.output_tokens,
        health="answered",
    )


def _fault_result(prepared: PreparedCall, fault: AiFault, result: Result) -> CallResult:
    assert prepared.account is not None  # noqa: S101  # the caller has checked it
    usage = fault.usage or Usage(0, 0)
    # Without usage it is unknown what an answer with a 2xx status, or none at all, has cost.
    is_paid = fault.usage is None and (result.error is None or (result.status is None and result.error not in UNSENT))
    health = "refused" if fault.code == KEY_REFUSED else "outage" if fault.is_outage else "answered"
    return CallResult(
        prepared.call_id,
        prepared.tries,
        code=fault.code,
        again_after=_again(prepared, result, is_passing=fault.is_passing),
        cost=prepared.worst_cost if is_paid else cost_of(prepared.account, usage) if fault.usage else 0,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        health=health,
        key_since=prepared.key_since,
    )


def _http_result(prepared: PreparedCall, result: Result) -> CallResult:
    error, status = result.error, result.status
    if status is None or (error is not None and not error.startswith("http_")):
        code = HTTP_CODES.get(error or "", error or error_codes.FAILED)
        again = _again(prepared, result, is_passing=error in PASSING)
        return CallResult(prepared.call_id, prepared.tries, code=code, again_after=again)
    code = error or ""
    if result.cut:
        code = code or "too_large"
    elif result.response_body and not _is_text(result):
        code = code or "not_text"
    return CallResult(
        prepared.call_id,
        prepared.tries,
        code=code,
        result={"status": status, "text": result.response_text if _is_text(result) else ""},
        again_after=_again(prepared, result, is_passing=status == 429 or status >= 500),
    )


def _is_text(result: Result) -> bool:
    said = CaseInsensitiveDict(result.response_headers).get("Content-Type", "")
    return TEXT_TYPES.fullmatch(said.partition(";")[0].strip().lower()) is not None


def _again(prepared: PreparedCall, result: Result, *, is_passing: bool) -> timedelta | None:
    """Return when to make the call once more, as the answer asks if it is soon; None if not."""
    if not is_passing or prepared.tries >= MOST_ATTEMPTS:
        return None
    asked = CaseInsensitiveDict(result.response_headers).get("Retry-After", "").strip()[:6]
    wait = timedelta(seconds=int(asked)) if asked.isascii() and asked.isdigit() else AGAIN_AFTER
    return max(AGAIN_AFTER, wait) if wait <= LONGEST_AGAIN_AFTER else None
