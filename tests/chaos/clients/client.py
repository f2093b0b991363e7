"""One client of one agency: it leads sub-accounts through their lives, a step after the other."""

import random
import threading
import time
import uuid
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tests.chaos.clients.calls import NO_ANSWER, Api
from tests.chaos.expectations import Expectation, Expectations, Key

CREATED, SUSPENDED, RESTORED = "workspace.created", "workspace.suspended", "workspace.restored"
CHANGED = "subscription.changed"
EVENTS = (CREATED, SUSPENDED, CHANGED, RESTORED)
# A client asks again until it is told; after so long it leaves the sub-account as it is.
GIVES_UP_AFTER_SECONDS = 60.0
LAST_SECONDS = 10.0  # when the load is to end
AGAIN_SECONDS = 0.3
# Refusals that say nothing about what became of the change.
ASK_AGAIN = {NO_ANSWER, 409, 429, 500, 502, 503, 504}


class Step(NamedTuple):
    """A change, the event that it has, and what that has to say of the sub-account."""

    event: str
    method: str
    path: str
    body: dict[str, Any] | None
    status: str
    has_plan: bool


@dataclass
class Client:
    """`rate` is how many calls a second; `wrong` has what it was told that cannot be."""

    api: Api
    agency: int
    plans: tuple[str, str]
    owner: str
    expectations: Expectations
    stopping: threading.Event
    rng: random.Random
    rate: float
    wrong: list[str] = field(default_factory=list)
    busy: bool = False
    accounts: int = 0
    _next_at: float = 0.0

    def run(self) -> None:
        while not self.stopping.is_set():
            self._lead(f"{self.owner} {self.agency} {self.accounts} {self.rng.getrandbits(32):08x}")
            self.accounts += 1
        self.api.close()

    def _lead(self, name: str) -> None:
        """Lead one sub-account from its creation on."""
        uuid_ = self.create(name)
        for step in self._steps() if uuid_ else ():
            if self.stopping.is_set() or not self._take(name, str(uuid_), step):
                return

    def create(self, name: str) -> str | None:
        """Create a sub-account; gives its uuid."""
        body = {"name": name, "owner": {"name": "Owner", "email": f"{self.owner}@example.com"}, "plan": self.plans[0]}
        expected = self._expect(CREATED, name, status="active", plan=self.plans[0])
        found = self._ask(expected, "POST", "/workspaces", body, 201, Idempotency_Key=str(uuid.uuid4()))
        if found is None:
            return None
        if found.get("name") != name or found.get("status") != "active":
            self.wrong.append("the answer is about another sub-account")
        expected.data["uuid"] = found["uuid"]
        return str(found["uuid"])

    def _steps(self) -> list[Step]:
        """Suspend it and move it to the other plan, in either order; then restore it."""
        suspend = Step(SUSPENDED, "POST", "/suspend", {"reason": "Invoice overdue"}, "suspended", has_plan=False)
        change = Step(CHANGED, "PUT", "/plan", {"plan": self.plans[1]}, "", has_plan=True)
        restore = Step(RESTORED, "POST", "/restore", None, "active", has_plan=False)
        return [change, suspend, restore] if self.rng.random() < 0.5 else [suspend, change, restore]

    def _take(self, name: str, account: str, step: Step) -> bool:
        more = {"plan": self.plans[1]} if step.has_plan else {}
        state = {"status": step.status} if step.status else {}
        expected = self._expect(step.event, name, uuid=account, **state, **more)
        found = self._ask(expected, step.method, f"/workspaces/{account}{step.path}", step.body, 200)
        if found is not None and step.status and found.get("status") != step.status:
            self.wrong.append(f"{step.event} was answered with the status {found.get('status')}")
        return found is not None

    def _expect(self, event: str, name: str, **data: object) -> Expectation:
        return self.expectations.ask(Key(event, name), ("agency_id", self.agency), **data)

    def _ask(
        self, expected: Expectation, method: str, path: str, body: object, success: int, **headers: str
    ) -> dict[str, Any] | None:
        """Ask until told; None when that was given up, and the change may or may not have been made."""
        began = time.monotonic()
        while True:
            self._pace()
            self.busy = True
            status, found, _ = self.api.call(method, path, body, **headers)
            self.busy = False
            if status == success and isinstance(found, dict):
                self.expectations.tell([expected])
                return found
            if status not in ASK_AGAIN:
                self.wrong.append(f"what was told before was answered with {status}: {method} {expected.key.event}")
                return None
            patience = LAST_SECONDS if self.stopping.is_set() else GIVES_UP_AFTER_SECONDS
            if time.monotonic() - began > patience:
                return None
            time.sleep(AGAIN_SECONDS)

    def _pace(self) -> None:
        now = time.monotonic()
        if self._next_at > now:
            self.stopping.wait(self._next_at - now)
        self._next_at = max(now, self._next_at) + 1 / self.rate
