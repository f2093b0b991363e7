"""Runs the demonstration, from the first sub-account to the last event."""

import statistics
import time
import uuid
from dataclasses import dataclass
from typing import Any, TextIO

from tools.demo import webhook
from tools.demo.api import Answer, DemoFailed, PatientClient
from tools.demo.bookings import STEPS as STEPS_OF_BOOKINGS
from tools.demo.bookings import BookingStory, LocalSystem
from tools.demo.progress import Progress
from tools.demo.receiver import Receiver, open_receiver
from tools.demo.tracker import EventTracker

NAMES = ("Harbour Bakery", "Linden Clinic", "Quayside Cycles", "Copper Salon", "Northgate Realty")
STEPS_BESIDE = 3  # catalogue, webhook, its removal
STEPS_EACH = 7


@dataclass(frozen=True)
class Timing:
    """How long to wait for events: `pause` seconds at most after each change, `wait` seconds at most at the end."""

    pause: float = 0.1
    wait: float = 90.0


class DemoRun:
    """One run of the demonstration. Every change goes over the API; every event comes in at the receiver."""

    def __init__(self, api: PatientClient, receiver: Receiver, progress: Progress, timing: Timing) -> None:
        self.api, self.receiver, self.progress, self.timing = api, receiver, progress, timing
        self.tracker = EventTracker()
        self.secret = ""
        self.plans: list[dict[str, Any]] = []
        self.addon: dict[str, Any] = {}

    def read_catalogue(self) -> None:
        answer = self.api.call("GET", "/plans")
        addons = self.api.call("GET", "/addons").data
        self.plans = answer.data
        if len(self.plans) < 2 or not addons:
            raise DemoFailed("The agency needs two plans and an add-on; `manage.py bootstrap` makes them.")
        self.addon = addons[0]
        self._step("GET", f"{len(self.plans)} plans and {len(addons)} add-ons in the catalogue", answer)

    def register_the_receiver(self) -> None:
        self.secret, answer = webhook.register(self.api, self.receiver.url)
        self._step("POST", f"webhook registered: {self.receiver.url}", answer)

    def provision(self, name: str, number: int) -> dict[str, Any]:
        wanted = {
            "name": name,
            "owner": {"name": f"Owner {number}", "email": f"owner-{number}@example.com"},
            "plan": self.plans[0]["uuid"],
        }
        answer = self.api.call("POST", "/workspaces", wanted, idempotency_key=str(uuid.uuid4()))
        self._step("POST", f"{name}: provisioned on plan {self.plans[0]['name']}", answer)
        self._expect("workspace.created", answer.data, answer)
        return dict(answer.data)

    def change(self, workspace: dict[str, Any]) -> None:
        """Make every kind of change to one sub-account."""
        path, name = f"/workspaces/{workspace['uuid']}", workspace["name"]
        workspace["name"] = f"{name} & Co"
        answer = self.api.call("PATCH", path, {"name": workspace["name"]})
        self._step("PATCH", f"{name}: renamed to {workspace['name']}", answer)
        self._act(workspace, "POST", f"{path}/suspend", {"reason": "demonstration"}, "suspended", "workspace.suspended")
        self._act(workspace, "POST", f"{path}/restore", {}, "restored", "workspace.restored")
        plan, addon = self.plans[1], self.addon
        moved = f"moved to plan {plan['name']}"
        self._act(workspace, "PUT", f"{path}/plan", {"plan": plan["uuid"]}, moved, "subscription.changed")
        granted = f"add-on {addon['name']} granted"
        self._act(workspace, "POST", f"{path}/addons", {"addon": addon["uuid"]}, granted, "addon.granted")
        self._act(workspace, "DELETE", f"{path}/addons/{addon['uuid']}", None, "add-on revoked", "addon.revoked")

    def wait_for_events(self) -> None:
        until = time.monotonic() + self.timing.wait
        while self.tracker.missing and time.monotonic() < until:
            self._read_deliveries(0.25)

    def finish(self) -> bool:
        """Show the outcome; say whether every event arrived and every signature was right."""
        times = [found.milliseconds for found in self.tracker.confirmed.values()]
        for expected in self.tracker.missing:
            self.progress.problem(f"{expected.key[0]} of {expected.about} did not arrive")
        outcome = f"{len(times)} of {len(self.tracker.expected)} events arrived, each signature verified"
        if self.tracker.errors:
            outcome = f"{len(times)} events arrived, {len(self.tracker.errors)} deliveries were wrong"
        if times:
            outcome += f"; answer → arrival: median {statistics.median(times):.0f} ms, longest {max(times):.0f} ms"
        self.progress.summary(f"{outcome}; {self.tracker.repetitions} repeated deliveries")
        return not self.tracker.missing and not self.tracker.errors

    def _act(self, workspace: dict[str, Any], method: str, path: str, body: Any, what: str, event: str) -> None:
        answer = self.api.call(method, path, body, also=(404,))
        if answer.status == 404 and not (answer.repeated and method == "DELETE"):
            raise DemoFailed(f"{method} {path}: 404 {answer.message}")
        self._step(method, f"{workspace['name']}: {what}", answer)
        self._expect(event, workspace, answer)

    def _expect(self, event: str, workspace: dict[str, Any], answer: Answer) -> None:
        self.tracker.expect((event, workspace["uuid"]), workspace["name"], answer.answered_at)
        self._read_deliveries(self.timing.pause)

    def _step(self, method: str, what: str, answer: Answer) -> None:
        self.progress.step(method, what, answer.milliseconds)

    def _read_deliveries(self, seconds: float) -> None:
        """Read the deliveries that have arrived; wait at most so many seconds for the first."""
        while received := self.receiver.next(seconds):
            error = self.tracker.take(received, self.secret)
            if error:
                self.progress.problem(f"a delivery is wrong: {error}")
            seconds = 0
        for found in self.tracker.settle():
            self.progress.event(found)


def run_demo(
    *, base_url: str, key: str, sub_accounts: int, timing: Timing, output: TextIO, local: LocalSystem | None = None
) -> bool:
    """Run the demonstration; say whether it went well. Raises `DemoFailed` if it cannot go on.

    Appointments and payments are shown on a `local` system only. Without sub-accounts nothing else is shown.
    """
    events = STEPS_BESIDE + STEPS_EACH * sub_accounts if sub_accounts else 0
    progress = Progress(output, events + (STEPS_OF_BOOKINGS if local else 0))
    went_well = _show_events(base_url, key, sub_accounts, timing, progress) if sub_accounts else True
    if local is None:
        progress.remark("appointments and payments need the system of `make run`, with the key and password it printed")
        return went_well
    return BookingStory(local, progress, timing.wait).play() and went_well


def _show_events(base_url: str, key: str, sub_accounts: int, timing: Timing, progress: Progress) -> bool:
    api = PatientClient(base_url.rstrip("/"), key, progress.remark)
    with open_receiver() as receiver:
        demo = DemoRun(api, receiver, progress, timing)
        demo.read_catalogue()
        try:
            demo.register_the_receiver()
            workspaces = [demo.provision(*_name(number)) for number in range(1, sub_accounts + 1)]
            for workspace in workspaces:
                demo.change(workspace)
            demo.wait_for_events()
        finally:
            started = time.monotonic()
            webhook.unregister(api, receiver.url)
            progress.step("DELETE", "webhook removed", (time.monotonic() - started) * 1000)
        return demo.finish()


def _name(number: int) -> tuple[str, int]:
    around = (number - 1) // len(NAMES)
    return NAMES[(number - 1) % len(NAMES)] + (f" {around + 1}" if around else ""), number
