"""A client for the Graph API: versioned paths, errors and their kinds, pages with cursors, rate limits.

It does one operation.
"""

import hashlib
import hmac
import logging
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final
from urllib.parse import parse_qs, urlsplit

import orjson

from channelconnect.providers.parsing import Row, minutes_to_wait, number, row, rows, text
from channelconnect.providers.settings import ProviderSettings
from channelconnect.providers.transport import Budget, NoReply, Reply, Request, Transport

LONGEST_TEXT: Final = 200
TOKENLIKE: Final = re.compile(r"[\w|.%+/=-]{24,}")


class ProviderFault(Exception):
    """A fault at a provider. `code` is the session's error code; `log` has more for the log only, without secrets."""

    def __init__(self, code: str, **log: object) -> None:
        super().__init__(code)
        self.code = code
        self.log = log


class Step(StrEnum):
    """The purpose of a call."""

    EXCHANGE = "exchange"
    INSPECT = "inspect"  # with the app's own token
    READ = "read"
    SUBSCRIBE = "subscribe"


class FailureKind(StrEnum):
    """The way in which a call failed."""

    AWAY = "away"  # not reached, no answer in time, 5xx, no JSON
    THROTTLED = "throttled"
    TOKEN_DEAD = "token_dead"  # noqa: S105 - a word, no secret
    REFUSED = "refused"


ERROR_CODES: Final[dict[Step, dict[FailureKind, str]]] = {
    Step.EXCHANGE: {
        FailureKind.AWAY: "provider_unavailable",
        FailureKind.THROTTLED: "token_exchange_failed",
        FailureKind.TOKEN_DEAD: "token_exchange_failed",
        FailureKind.REFUSED: "token_exchange_failed",
    },
    Step.INSPECT: {
        FailureKind.AWAY: "provider_unavailable",
        FailureKind.THROTTLED: "provider_request_failed",
        FailureKind.TOKEN_DEAD: "provider_request_failed",
        FailureKind.REFUSED: "provider_request_failed",
    },
    Step.READ: {
        FailureKind.AWAY: "provider_unavailable",
        FailureKind.THROTTLED: "provider_request_failed",
        FailureKind.TOKEN_DEAD: "credentials_expired",
        FailureKind.REFUSED: "provider_request_failed",
    },
    Step.SUBSCRIBE: {
        FailureKind.AWAY: "provider_unavailable",
        FailureKind.THROTTLED: "provider_request_failed",
        FailureKind.TOKEN_DEAD: "credentials_expired",
        FailureKind.REFUSED: "subscription_failed",
    },
}

# The Graph API's codes. Every other code is a refusal.
FAILURE_KINDS: Final[dict[int, FailureKind]] = {
    **dict.fromkeys((1, 2, 131000, 131016, 131057, 133004, 2494100), FailureKind.AWAY),
    **dict.fromkeys((4, 17, 32, 341, 613, 80001, 80002, 80007, 130429), FailureKind.THROTTLED),
    **dict.fromkeys((0, 102, 190), FailureKind.TOKEN_DEAD),
}


def failure_kind(*, step: Step, status: int, code: int | None, is_graph: bool) -> FailureKind:
    """Classify a failed answer. `is_graph` says that it is a JSON object, so that the Graph API itself has answered.

    Every 4xx of the token exchange is a refusal, whatever its code means elsewhere.
    """
    if step is Step.EXCHANGE and 400 <= status < 500:
        return FailureKind.REFUSED
    if code is not None and code in FAILURE_KINDS:
        return FAILURE_KINDS[code]
    if status == 429:
        return FailureKind.THROTTLED
    return FailureKind.REFUSED if is_graph and status < 500 else FailureKind.AWAY


def scrubbed(text: object, secrets: Iterable[str]) -> str:
    """Return a provider's text, shortened and without the call's secrets or anything that looks like a secret."""
    shown = str(text)[: 4 * LONGEST_TEXT]
    for secret in secrets:
        if secret:
            shown = shown.replace(secret, "…")
    return TOKENLIKE.sub("…", shown)[:LONGEST_TEXT]


logger = logging.getLogger(__name__)

MOST_PAGES: Final = 100
PAGE_SIZE: Final = "100"


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call. `repeats` says that repeating it does no harm. The log names only its method, path and step."""

    step: Step
    path: str
    method: str = "GET"
    params: Mapping[str, str] = field(default_factory=dict, repr=False)
    form: Mapping[str, str] | None = field(default=None, repr=False)
    json: Mapping[str, object] | None = field(default=None, repr=False)
    token: str = field(default="", repr=False)
    repeats: bool = True

    @property
    def secrets(self) -> tuple[str, ...]:
        return (self.token, *self.params.values(), *(self.form or {}).values())


class _Failure(Exception):
    """A failed attempt: its outcome, the fields for the log, and whether another attempt may succeed."""

    def __init__(self, outcome: FailureKind, log: dict[str, object], *, may_pass: bool) -> None:
        super().__init__(outcome)
        self.outcome = outcome
        self.log = log
        self.may_pass = may_pass


class Graph:
    """The calls of one operation, within one shared time budget. Every failure is a `ProviderFault`."""

    def __init__(self, settings: ProviderSettings, transport: Transport) -> None:
        self.settings = settings
        self.transport = transport
        self.limits = transport.limits
        self.budget = Budget(self.limits.operation)

    def read(self, path: str, *, token: str, **params: str) -> Row:
        """Read an object with a customer's token."""
        return self.call(Call(step=Step.READ, path=path, params=self._proven(params, token), token=token))

    def pages(self, path: str, *, token: str, **params: str) -> Iterator[Row]:
        """Read a list to its end, page by page, from our configured base address.

        The list ends where `next` is missing: a page in the middle may be empty, and the last page has a cursor too.
        The address in `next` is never followed, because it carries the token and may name another host.
        """
        seen: set[str] = set()
        after = {"limit": PAGE_SIZE}
        for _ in range(MOST_PAGES):
            page = self.read(path, token=token, **params, **after)
            yield from rows(page.get("data"))
            paging = row(page.get("paging"))
            if not paging.get("next"):
                return
            cursor = _cursor(paging)
            if not cursor or cursor in seen:
                break
            seen.add(cursor)
            after["after"] = cursor
        raise ProviderFault("asset_discovery_incomplete", call=f"GET {path}", reason="endless_list")

    def write(
        self,
        path: str,
        *,
        token: str,
        method: str = "POST",
        form: Mapping[str, str] | None = None,
        json: Mapping[str, object] | None = None,
        repeats: bool = True,
    ) -> None:
        """Make a change that answers `success`. Anything but true is a refusal."""
        params = self._proven({}, token)
        call = Call(
            step=Step.SUBSCRIBE,
            method=method,
            path=path,
            params=params,
            form=form,
            json=json,
            token=token,
            repeats=repeats,
        )
        if self.call(call).get("success") is not True:
            raise ProviderFault("subscription_failed", call=f"{method} {path}", reason="no_success")

    def request(self, path: str, *, token: str, json: Mapping[str, object]) -> str:
        """Make a request that must not be made twice. Return the provider's id of it."""
        params = self._proven({}, token)
        call = Call(step=Step.SUBSCRIBE, method="POST", path=path, params=params, json=json, token=token, repeats=False)
        return text(self.call(call).get("request_id"), 100)

    def call(self, call: Call) -> Row:
        """Return the answer's object, after as many attempts as the call allows within the time of a read."""
        attempt = 1
        while True:
            try:
                return self._attempt(call)
            except _Failure as failure:
                may_repeat = call.repeats and failure.may_pass and attempt < self.limits.attempts
                if not may_repeat or self.budget.spent >= self.limits.read:
                    raise ProviderFault(ERROR_CODES[call.step][failure.outcome], **failure.log) from None
                pause = self.limits.pause * 3 ** (attempt - 1)
            time.sleep(min(pause, self.budget.left))
            attempt += 1

    def _attempt(self, call: Call) -> Row:
        started = time.monotonic()
        log: dict[str, object] = {"call": f"{call.method} {call.path}", "version": self.settings.version}
        try:
            reply = self.transport.send(self._request(call), seconds=min(self.limits.whole, self.budget.left))
        except NoReply as error:
            log["reason"] = error.reason
            logger.warning("provider did not answer", extra=log)
            raise _Failure(FailureKind.AWAY, log, may_pass=self.budget.left > 0) from None
        log |= {"http_status": reply.status, "ms": round((time.monotonic() - started) * 1000)}
        try:
            return self._object(call, reply, log)
        finally:
            logger.info("provider call", extra=log)

    def _request(self, call: Call) -> Request:
        return Request(
            method=call.method,
            url=f"{self.settings.graph_url}/{self.settings.version}/{call.path}",
            params=call.params,
            form=call.form,
            json=call.json,
            token=call.token,
        )

    def _object(self, call: Call, reply: Reply, log: dict[str, object]) -> Row:
        answer = _parsed(reply.body)
        if reply.status == 200 and answer is not None and "error" not in answer:
            return answer
        error = row((answer or {}).get("error"))
        code = number(error.get("code"))
        log |= self._log_fields(call, error, code)
        wait = minutes_to_wait(reply.headers)
        if wait:
            log["minutes_to_wait"] = wait
        outcome = failure_kind(step=call.step, status=reply.status, code=code, is_graph=answer is not None)
        passing = outcome in (FailureKind.AWAY, FailureKind.THROTTLED) or error.get("is_transient") is True
        raise _Failure(outcome, log, may_pass=passing and not wait)

    def _log_fields(self, call: Call, error: Row, code: int | None) -> dict[str, object]:
        """Return the provider's details of an error, for the log."""
        if not error:
            return {"reason": "no_graph_answer"}
        secrets = (*call.secrets, self.settings.app_secret)
        return {
            "provider_code": code,
            "provider_subcode": number(error.get("error_subcode")),
            "fbtrace_id": text(error.get("fbtrace_id"), 40),
            "provider_text": scrubbed(error.get("message"), secrets),
        }

    def _proven(self, params: Mapping[str, str], token: str) -> dict[str, str]:
        """Add the proof that the caller also knows the app's secret, so that a stolen token alone is of little use."""
        proof = hmac.new(self.settings.app_secret.encode(), token.encode(), hashlib.sha256)
        return {**params, "appsecret_proof": proof.hexdigest()}


def _parsed(body: bytes) -> Row | None:
    try:
        answer = orjson.loads(body)
    except orjson.JSONDecodeError:
        return None
    return answer if isinstance(answer, dict) else None


def _cursor(paging: Row) -> str:
    """Return the cursor of the next page, from the cursors or from the next page's address."""
    cursor = text(row(paging.get("cursors")).get("after"), 1_000)
    following = paging.get("next")
    if cursor or not isinstance(following, str):
        return cursor
    return parse_qs(urlsplit(following).query).get("after", [""])[0]
