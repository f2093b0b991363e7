"""A client for the Graph API: versioned paths, error bodies, pages with cursors, rate limits. It does one operation."""

import hashlib
import hmac
import logging
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import orjson

from channelconnect.providers.faults import ERROR_CODES, Outcome, ProviderFault, Step, outcome_of, scrubbed
from channelconnect.providers.graph.deadlines import Budget
from channelconnect.providers.graph.parsing import Row, number, row, rows, text
from channelconnect.providers.graph.rate_limits import minutes_to_wait
from channelconnect.providers.graph.transport import NoReply, Reply, Request, Transport
from channelconnect.providers.settings import ProviderSettings

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
    json: Mapping[str, Any] | None = field(default=None, repr=False)
    token: str = field(default="", repr=False)
    repeats: bool = True

    @property
    def secrets(self) -> tuple[str, ...]:
        return (self.token, *self.params.values(), *(self.form or {}).values())


class _Failure(Exception):
    """A failed attempt: its outcome, the fields for the log, and whether another attempt may succeed."""

    def __init__(self, outcome: Outcome, log: dict[str, object], *, may_pass: bool) -> None:
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
        json: Mapping[str, Any] | None = None,
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
            raise _Failure(Outcome.AWAY, log, may_pass=self.budget.left > 0) from None
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
        outcome = outcome_of(step=call.step, status=reply.status, code=code, is_graph=answer is not None)
        passing = outcome in (Outcome.AWAY, Outcome.THROTTLED) or error.get("is_transient") is True
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
