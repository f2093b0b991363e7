"""What the sandbox keeps while it runs: the scenario, codes, subscriptions, and a ledger of all it did."""

import secrets
import threading
import time
from collections import Counter, deque
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from tools.sandbox.config import SandboxConfig
from tools.sandbox.control.faults import Fault
from tools.sandbox.control.people import PEOPLE, Person
from tools.sandbox.control.scenario import Scenario
from tools.sandbox.graph import tokens
from tools.sandbox.graph.errors import Refused
from tools.sandbox.graph.tokens import Token

LEDGER_LENGTH: Final = 10_000


@dataclass(slots=True, kw_only=True)
class Code:
    token: Token
    redirect_uri: str
    ends_at: float
    is_used: bool = False


@dataclass
class SandboxState:
    """Shared by all requests' threads; `lock` guards every change."""

    config: SandboxConfig
    scenario: Scenario = field(default_factory=Scenario)
    codes: dict[str, Code] = field(default_factory=dict)
    subscriptions: dict[str, list[str]] = field(default_factory=dict)
    registrations: Counter[str] = field(default_factory=Counter)
    registered: set[str] = field(default_factory=set)
    revoked: dict[str, str] = field(default_factory=dict)
    fault_counts: Counter[Fault] = field(default_factory=Counter)
    calls: deque[dict[str, Any]] = field(default_factory=lambda: deque(maxlen=LEDGER_LENGTH))
    sent: deque[dict[str, Any]] = field(default_factory=lambda: deque(maxlen=LEDGER_LENGTH))
    lock: threading.RLock = field(default_factory=threading.RLock)
    closing: threading.Event = field(default_factory=threading.Event)

    def reset(self) -> None:
        """Forget everything but the codes' and tokens' signatures: tokens given before stay good."""
        with self.lock:
            self.scenario = Scenario()
            accounts = (self.codes, self.subscriptions, self.registrations, self.registered, self.revoked)
            for forgotten in (*accounts, self.fault_counts, self.calls, self.sent):
                forgotten.clear()

    def play(self, scenario: Scenario) -> None:
        with self.lock:
            self.scenario = scenario
            self.fault_counts.clear()

    # Codes and tokens ---------------------------------------------------------------------------------

    def new_code(self, token: Token, redirect_uri: str) -> str:
        code = "AQ" + secrets.token_urlsafe(48)
        with self.lock:
            ends_at = time.monotonic() + self.scenario.code_seconds
            self.codes[code] = Code(token=token, redirect_uri=redirect_uri, ends_at=ends_at)
        return code

    def redeem_code(self, code: str, redirect_uri: str) -> Token:
        """Use up a code. Raises `Refused`."""
        with self.lock:
            found = self.codes.get(code)
            if found is None:
                raise Refused("code_invalid")
            if found.is_used:
                raise Refused("code_used")
            if found.redirect_uri != redirect_uri:
                raise Refused("redirect_mismatch")
            if found.ends_at <= time.monotonic():
                raise Refused("code_expired")
            found.is_used = True
            return found.token

    def write_token(self, token: Token) -> str:
        return tokens.write(token, self.config.app_secret)

    def read_token(self, text: str) -> Token:
        """Give a living token's content. Raises `Refused`."""
        token = tokens.read(text, self.config.app_secret)
        if token.person in self.revoked:
            raise Refused(self.revoked[token.person])
        if token.has_expired():
            raise Refused("token_expired")
        return token

    # Faults and the ledger ----------------------------------------------------------------------------

    def fault_at(self, call: str, person: Person | None) -> Fault | None:
        """Give the next fault for a call: the scenario's first, then the person's own."""
        with self.lock:
            for fault in (*self.scenario.faults, *(person.faults if person else ())):
                if not fault.is_at(call) or (fault.times is not None and self.fault_counts[fault] >= fault.times):
                    continue
                self.fault_counts[fault] += 1
                if (self.fault_counts[fault] - 1) % fault.every == 0:
                    return fault
        return None

    def record_call(self, **entry: Any) -> dict[str, Any]:
        with self.lock:
            self.calls.append(entry)
        return entry

    def ledger(self) -> dict[str, Any]:
        with self.lock:
            opaque = Counter(entry["opaque"] for entry in self.sent if entry["opaque"])
            return {
                "calls": list(self.calls),
                "sent": list(self.sent),
                "sent_by_opaque": dict(opaque),
                "subscriptions": dict(self.subscriptions),
                "registrations": dict(self.registrations),
                "revoked": dict(self.revoked),
                "scenario": asdict(self.scenario),
            }

    def person(self, key: str) -> Person | None:
        return PEOPLE.get(key)
