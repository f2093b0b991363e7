"""Posts the statuses that follow a sent message: composed like Meta's, in batches, in the order of their course."""

import heapq
import threading
import time
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from tools.sandbox.control.callbacks import container_of, of_number

Body = dict[str, Any]
# The statuses of each course. The number says after how many times `status_seconds` a status comes.
COURSES: Final[dict[str, tuple[tuple[str, float], ...]]] = {
    "none": (),
    "sent": (("sent", 1),),
    "delivered": (("sent", 1), ("delivered", 2)),
    "read": (("sent", 1), ("delivered", 2), ("read", 3)),
    "no-delivered": (("sent", 1), ("read", 2)),
    "doubled": (("sent", 1), ("sent", 1), ("delivered", 2), ("delivered", 2), ("read", 3), ("read", 3)),
    "reversed": (("read", 1), ("delivered", 2), ("sent", 3)),
    "late": (("sent", 20), ("delivered", 21), ("read", 22)),
    "before": (("sent", 0), ("delivered", 0)),
    "failed-after": (("sent", 1), ("failed:131026", 2)),
    "delivered-after": (("sent", 1), ("failed:131026", 2), ("delivered", 3)),
    "held": (("failed:132015", 3),),
    "deleted": (("sent", 1), ("delivered", 2), ("deleted", 3)),
    "played": (("sent", 1), ("delivered", 2), ("read", 3), ("played", 4)),
}
# The statuses of this course are posted before the answer to the send.
AT_ONCE: Final = "before"
MOST_IN_A_POST: Final = 200


class Accepted(NamedTuple):
    """The facts of an accepted message that its statuses need."""

    platform: str
    account: str
    person: str
    is_user_id: bool
    message_id: str
    opaque: str
    category: str
    text: str


def status_of(one: Accepted, status: str, at: float) -> Body:
    """Compose one entry of `statuses`."""
    name, _, code = status.partition(":")
    body: Body = {"id": one.message_id, "status": name, "timestamp": str(int(at))}
    body["recipient_user_id" if one.is_user_id else "recipient_id"] = one.person.lstrip("+")
    if one.opaque:
        body["biz_opaque_callback_data"] = one.opaque
    if code:
        details = {"details": "It could not be delivered."}
        body["errors"] = [{"code": int(code), "title": "Failed", "message": "Failed", "error_data": details}]
    if name in ("sent", "delivered"):
        body["pricing"] = {"billable": True, "pricing_model": "PMP", "type": "regular", "category": one.category}
    return body


def page_event(one: Accepted, status: str, at: float, container: str) -> Body | None:
    """Compose the event of a Page or an Instagram account: an echo, a delivery, or a read. None if there is none."""
    name = status.partition(":")[0]
    now = int(at * 1000)
    person, account = {"id": one.person}, {"id": one.account}
    back: Body = {"sender": person, "recipient": account, "timestamp": now}
    if name == "sent":
        message = {"mid": one.message_id, "is_echo": True, "text": one.text}
        metadata = {"metadata": one.opaque} if one.opaque and one.platform == "facebook" else {}
        return {"sender": account, "recipient": person, "timestamp": now, "message": message | metadata}
    if name == "delivered" and one.platform == "facebook":
        return back | {"delivery": {"mids": [one.message_id], "watermark": now}}
    if name == "read":
        return back | {"read": {"mid": one.message_id} if one.platform == "instagram" else {"watermark": now}}
    return None


class StatusPlayer:
    """Posts statuses when they are due, in one thread that starts with the first status."""

    def __init__(self, post: Callable[[Body], None]) -> None:
        self._post = post
        self._changed = threading.Condition()
        self._due: list[tuple[float, int, Accepted, str]] = []
        self._number = 0
        self._is_closed = self._is_begun = False

    def play(self, one: Accepted, course: str, seconds: float) -> None:
        """Schedule a message's statuses. Those of the course `before` are posted before this returns."""
        now = time.time()
        if course == AT_ONCE:
            self._send([(one, status, now) for status, _ in COURSES[course]])
            return
        with self._changed:
            for status, share in COURSES[course]:
                self._number += 1
                heapq.heappush(self._due, (now + share * seconds, self._number, one, status))
            if not self._is_begun:
                self._is_begun = True
                threading.Thread(target=self._run, name="statuses", daemon=True).start()
            self._changed.notify()

    def forget(self) -> None:
        with self._changed:
            self._due.clear()

    def close(self) -> None:
        with self._changed:
            self._is_closed = True
            self._changed.notify()

    def _run(self) -> None:
        while (batch := self._take()) is not None:
            self._send(batch)

    def _take(self) -> list[tuple[Accepted, str, float]] | None:
        with self._changed:
            while not self._is_closed:
                now = time.time()
                batch: list[tuple[Accepted, str, float]] = []
                while self._due and self._due[0][0] <= now and len(batch) < MOST_IN_A_POST:
                    at, _, one, status = heapq.heappop(self._due)
                    batch.append((one, status, at))
                if batch:
                    return batch
                self._changed.wait(self._due[0][0] - now if self._due else None)
            return None

    def _send(self, batch: list[tuple[Accepted, str, float]]) -> None:
        for body in compose(batch):
            self._post(body)


def compose(batch: list[tuple[Accepted, str, float]]) -> list[Body]:
    """Give the callbacks of a batch: one for all numbers, and one for each Page or Instagram account."""
    changes: dict[str, list[Body]] = {}
    events: dict[tuple[str, str], list[Body]] = {}
    for one, status, at in batch:
        if one.platform == "whatsapp":
            changes.setdefault(one.account, []).append(status_of(one, status, at))
        elif event := page_event(one, status, at, one.account):
            events.setdefault((one.platform, one.account), []).append(event)
    bodies = []
    if changes:
        entries = [
            {
                "id": container_of(account),
                "time": int(time.time()),
                "changes": [{"field": "messages", "value": of_number(account) | {"statuses": statuses}}],
            }
            for account, statuses in changes.items()
        ]
        bodies.append({"object": "whatsapp_business_account", "entry": entries})
    for (platform, account), messaging in events.items():
        entry = {"id": account, "time": int(time.time() * 1000), "messaging": messaging}
        bodies.append({"object": "page" if platform == "facebook" else "instagram", "entry": [entry]})
    return bodies
