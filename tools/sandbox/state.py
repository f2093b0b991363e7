"""The sandbox's state while it runs: the scenario, codes, subscriptions, and a ledger of all calls."""

import secrets
import threading
import time
from collections import Counter, deque
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from tools.sandbox.config import SandboxConfig
from tools.sandbox.control.business_app import BusinessApps
from tools.sandbox.control.callbacks import post_signed
from tools.sandbox.control.faults import Fault
from tools.sandbox.control.files import MediaStore
from tools.sandbox.control.people import PEOPLE, Person
from tools.sandbox.control.scenario import Scenario
from tools.sandbox.control.statuses import Accepted, StatusPlayer
from tools.sandbox.control.templates import Templates
from tools.sandbox.graph import tokens
from tools.sandbox.graph.errors import Refused
from tools.sandbox.graph.tokens import Token

LEDGER_LENGTH: Final = 10_000
WINDOW_SECONDS: Final = 24 * 3600


@dataclass(slots=True, kw_only=True)
class Code:
    token: Token
    redirect_uri: str
    ends_at: float
    is_used: bool = False


@dataclass
class SandboxState:
    """The state that all request threads share. `lock` guards every change."""

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
    # Accepted messages, counted by their opaque id. Unlike `sent` this is never cut.
    accepted: Counter[str] = field(default_factory=Counter)
    sent_total: int = 0
    marks: deque[dict[str, Any]] = field(default_factory=lambda: deque(maxlen=LEDGER_LENGTH))
    wishes: Counter[tuple[str, str]] = field(default_factory=Counter)
    windows: dict[tuple[str, str], float] = field(default_factory=dict)
    instagram_people: set[str] = field(default_factory=set)
    answered_comments: set[str] = field(default_factory=set)
    templates: Templates = field(default_factory=Templates)
    media: MediaStore = field(default_factory=MediaStore)
    business_app: BusinessApps = field(default_factory=BusinessApps)
    own_url: str = ""

    def __post_init__(self) -> None:
        self.statuses = StatusPlayer(self._post_statuses)

    def reset(self) -> None:
        """Forget everything. Tokens are signed and not stored, so earlier tokens stay good."""
        with self.lock:
            self.scenario = Scenario()
            accounts = (self.codes, self.subscriptions, self.registrations, self.registered, self.revoked)
            messages = (self.sent, self.accepted, self.marks, self.wishes, self.windows, self.instagram_people)
            for forgotten in (
                *accounts,
                *messages,
                self.answered_comments,
                self.fault_counts,
                self.calls,
                self.templates,
                self.media,
                self.business_app,
            ):
                forgotten.clear()
            self.sent_total = 0
        self.statuses.forget()

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
        """Give the content of a valid token. Raises `Refused`."""
        token = tokens.read(text, self.config.app_secret)
        if token.person in self.revoked:
            raise Refused(self.revoked[token.person])
        if token.has_expired():
            raise Refused("token_expired")
        return token

    # Messages -----------------------------------------------------------------------------------------

    def keep_sent(self, *, opaque: str, **entry: Any) -> None:
        with self.lock:
            self.sent_total += 1
            self.sent.append({"opaque": opaque, "at": time.time(), **entry})
            if opaque:
                self.accepted[opaque] += 1

    def still_wishes(self, sender: str, what: str, times: int | None) -> bool:
        """Say whether an error that was asked for `times` times must still come; None: always."""
        if times is None:
            return True
        with self.lock:
            self.wishes[sender, what] += 1
            return self.wishes[sender, what] <= times

    def is_open(self, account: str, person: str) -> bool:
        """Say whether free text may be sent: always, or with `has_windows` for a day after the person wrote."""
        with self.lock:
            wrote_at = self.windows.get((account, person), 0.0)
        return not self.scenario.has_windows or wrote_at > time.time() - WINDOW_SECONDS

    def answer_comment(self, comment: str) -> bool:
        """Count a private answer to a comment, and say whether it is the first."""
        with self.lock:
            is_first = comment not in self.answered_comments
            self.answered_comments.add(comment)
        return is_first

    def open_window(self, account: str, person: str, *, is_instagram: bool) -> None:
        with self.lock:
            self.windows[account, person] = time.time()
            if is_instagram:
                self.instagram_people.add(person)

    def play_statuses(self, one: Accepted, course: str) -> None:
        if self.config.callback_url:
            self.statuses.play(one, course, self.scenario.status_seconds)

    def _post_statuses(self, body: dict[str, Any]) -> None:
        post_signed(self.config, body)

    def post_later(self, bodies: list[dict[str, Any]]) -> None:
        """Post callbacks in the background, one after the other."""

        def post() -> None:
            for body in bodies:
                if self.closing.wait(self.scenario.status_seconds):
                    return
                post_signed(self.config, body)

        threading.Thread(target=post, name="callbacks", daemon=True).start()

    # Faults and the ledger ----------------------------------------------------------------------------

    def fault_at(self, call: str, person: Person | None) -> Fault | None:
        """Give the fault of this call, if any. The scenario's faults go before the person's own."""
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
            return {
                "calls": list(self.calls),
                "sent": list(self.sent),
                "sent_by_opaque": dict(self.accepted),
                "sent_total": self.sent_total,
                "marks": list(self.marks),
                "fetches": list(self.media.fetches),
                "subscriptions": dict(self.subscriptions),
                "registrations": dict(self.registrations),
                "revoked": dict(self.revoked),
                "scenario": asdict(self.scenario),
            }

    def person(self, key: str) -> Person | None:
        return PEOPLE.get(key)
