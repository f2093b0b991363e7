"""What the stand-in for Stripe keeps while it runs: objects by account, idempotent answers, events and faults."""

import secrets
import threading
import time
from collections import deque
from dataclasses import dataclass, field
from typing import Any, Final

from tools.sandbox.stripe.webhooks import Sender

KEY_PREFIXES: Final = ("rk_test_", "sk_test_", "rk_live_", "sk_live_")
LEDGER_LENGTH: Final = 10_000
# Stripe refuses sessions that end sooner than this. The rest is for the clocks of the two machines.
SHORTEST_SECONDS: Final = 30 * 60 - 30
LONGEST_SECONDS: Final = 24 * 3600 + 30
Object = dict[str, Any]


class Refused(Exception):
    """A call that Stripe refuses, with the status and the error's fields."""

    def __init__(self, status: int, kind: str, message: str, **more: str) -> None:
        super().__init__(message)
        self.status = status
        self.body = {"error": {"type": kind, "message": message, **more}}


def missing(what: str, key: str) -> Refused:
    return Refused(404, "invalid_request_error", f"No such {what}: '{key}'", code="resource_missing", param="id")


def invalid(message: str, param: str = "", code: str = "parameter_invalid") -> Refused:
    return Refused(400, "invalid_request_error", message, code=code, param=param)


@dataclass
class Fault:
    """A fault of the next `times` calls of a kind; None means all. `after` lets the call happen first.

    The first `skip` calls of the kind have no fault.
    """

    call: str
    kind: str
    times: int | None = 1
    after: bool = False
    skip: int = 0


@dataclass
class Account:
    """The objects of one account, by their ids."""

    id: str
    name: str
    live: bool
    endpoints: dict[str, Object] = field(default_factory=dict)
    sessions: dict[str, Object] = field(default_factory=dict)
    intents: dict[str, Object] = field(default_factory=dict)
    refunds: dict[str, Object] = field(default_factory=dict)
    disputes: dict[str, Object] = field(default_factory=dict)
    events: dict[str, Object] = field(default_factory=dict)
    answers: dict[str, tuple[object, int, Object]] = field(default_factory=dict)


class StripeState:
    """Everything that the request threads share. `lock` guards each call as a whole."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.closing = threading.Event()
        self.own_url = ""
        self.sender = Sender(self.closing)
        self._begin()

    def _begin(self) -> None:
        self.accounts: dict[str, Account] = {}
        self.calls: deque[Object] = deque(maxlen=LEDGER_LENGTH)
        self.faults: list[Fault] = []
        self.revoked: set[str] = set()
        self.lacking: dict[str, set[str]] = {}

    def reset(self) -> None:
        with self.lock:
            self._begin()
            self.sender.forget()

    def account_of(self, key: str) -> Account:
        """Find the account of a key, or make it: `rk_test_demo` and `sk_test_demo_2` are keys of `acct_demo`."""
        prefix = next((prefix for prefix in KEY_PREFIXES if key.startswith(prefix)), None)
        if prefix is None or key in self.revoked or "refused" in key:
            raise Refused(401, "invalid_request_error", "Invalid API Key provided", code="api_key_expired")
        name = key.removeprefix(prefix).partition("_")[0] or "demo"
        live = "_live_" in prefix
        account_id = f"acct_{name}{'live' if live else ''}"
        if account_id not in self.accounts:
            self.accounts[account_id] = Account(account_id, f"{name.capitalize()} Ltd", live)
        return self.accounts[account_id]

    def fault_at(self, call: str) -> Fault | None:
        """Return the fault of this call, and count it."""
        for fault in self.faults:
            if fault.call not in {call, "*"} or fault.times == 0:
                continue
            if fault.skip:
                fault.skip -= 1
            else:
                fault.times = None if fault.times is None else fault.times - 1
                return fault
        return None

    def record(self, account: Account, kind: str, subject: Object, *, ago: int = 0) -> None:
        """Make the event of a change. It is listed, and goes to each endpoint of the account that wants it."""
        body: Object = {
            "id": new_id("evt"),
            "object": "event",
            "type": kind,
            "created": int(time.time()) - ago,
            "livemode": account.live,
            "data": {"object": dict(subject)},
        }
        account.events[body["id"]] = body
        for endpoint in account.endpoints.values():
            if kind in endpoint["enabled_events"] and endpoint["status"] == "enabled":
                self.sender.add(endpoint["url"], endpoint["secret"], body)


def new_id(prefix: str) -> str:
    return f"{prefix}_{secrets.token_hex(12)}"
