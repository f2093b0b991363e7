"""Signs the events of the stand-in for Stripe and posts them: at once, or when they are asked for."""

import hashlib
import hmac
import json
import random
import threading
import time
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from queue import Empty, SimpleQueue
from typing import Any, Final
from urllib.parse import urlsplit

SECONDS: Final = 10.0
TRIES: Final = 5


@dataclass(frozen=True, slots=True)
class Notice:
    """An event on its way to one endpoint."""

    url: str
    secret: str
    body: bytes

    def signature(self, at: float | None = None) -> str:
        stamp = int(time.time() if at is None else at)
        signed = hmac.new(self.secret.encode(), f"{stamp}.".encode() + self.body, hashlib.sha256).hexdigest()
        return f"t={stamp},v1={signed}"

    def as_told(self) -> dict[str, str]:
        return {"url": self.url, "body": self.body.decode(), "signature": self.signature()}


class Sender:
    """Keeps events, and posts them from a thread of its own unless they are `held`."""

    def __init__(self, closing: threading.Event) -> None:
        self._closing = closing
        self._waiting: SimpleQueue[Notice] = SimpleQueue()
        self._held: list[Notice] = []
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self.is_holding = False

    def add(self, url: str, secret: str, body: dict[str, Any]) -> None:
        notice = Notice(url, secret, json.dumps(body).encode())
        with self._lock:
            if self.is_holding:
                self._held.append(notice)
                return
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, daemon=True)
                self._thread.start()
        self._waiting.put(notice)

    def take(self) -> list[dict[str, str]]:
        """Give the events that are held, signed now, and forget them."""
        with self._lock:
            taken, self._held = self._held, []
        return [notice.as_told() for notice in taken]

    def release(self, *, doubled: bool = False, shuffled: bool = False, lost: bool = False) -> int:
        """Post the events that are held: each twice, in any order, or never."""
        with self._lock:
            taken, self._held = self._held, []
        notices = [] if lost else taken * (2 if doubled else 1)
        if shuffled:
            random.shuffle(notices)
        return sum(post(notice) == 200 for notice in notices)

    def forget(self) -> None:
        with self._lock:
            self._held.clear()
            self.is_holding = False

    def _run(self) -> None:
        while not self._closing.is_set():
            try:
                notice = self._waiting.get(timeout=0.2)
            except Empty:
                continue
            for number in range(TRIES):
                if post(notice) == 200 or self._closing.wait(2.0**number):
                    break


def post(notice: Notice) -> int:
    """Post an event once. Gives the status, 0 if nobody answered."""
    parts = urlsplit(notice.url)
    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=SECONDS)
    headers = {"Content-Type": "application/json; charset=utf-8", "Stripe-Signature": notice.signature()}
    try:
        connection.request("POST", parts.path, notice.body, headers)
        response = connection.getresponse()
        response.read(1_000)
    except (OSError, HTTPException):
        return 0
    finally:
        connection.close()
    return response.status
