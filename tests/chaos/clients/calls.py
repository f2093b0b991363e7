"""Calls over HTTP, and what came of each."""

import json
import time
from collections import Counter
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from typing import Any

PREFIX = "/api/agency/v1"
# Longer than any call may take, so that one that hangs is seen as such.
TIMEOUT_SECONDS = 20.0
NO_ANSWER = 0


@dataclass
class CallLog:
    """Every call of a scenario: when it began, how long it took and its status, 0 where no answer came."""

    calls: list[tuple[float, float, int]] = field(default_factory=list)

    def add(self, began: float, status: int) -> None:
        self.calls.append((began, time.monotonic() - began, status))

    @property
    def counts(self) -> Counter[int]:
        return Counter(status for _, _, status in self.calls)

    @property
    def slowest(self) -> float:
        """The longest that anybody waited for an answer or for none."""
        return max((seconds for _, seconds, _ in self.calls), default=0.0)

    def answered_since(self, moment: float) -> int:
        return sum(status in range(200, 300) for began, _, status in self.calls if began >= moment)


@dataclass
class Api:
    """One client's connection, opened anew where it broke."""

    port: int
    key: str
    log: CallLog
    timeout: float = TIMEOUT_SECONDS
    _connection: HTTPConnection | None = None

    def call(self, method: str, path: str, body: object = None, **headers: str) -> tuple[int, Any, bytes]:
        """Give the status, 0 where no answer came, what its `data` is, and the bytes."""
        began = time.monotonic()
        status, content = self._exchange(method, PREFIX + path, body, headers)
        self.log.add(began, status)
        try:
            answer = json.loads(content) if content else {}
        except ValueError:
            answer = {}
        return status, answer.get("data") if isinstance(answer, dict) else None, content

    def read(self, path: str) -> tuple[int, Any, bytes]:
        """GET, once more where the connection was closed meanwhile."""
        answer = self.call("GET", path)
        return answer if answer[0] else self.call("GET", path)

    def _exchange(self, method: str, path: str, body: object, headers: dict[str, str]) -> tuple[int, bytes]:
        connection = self._connection or HTTPConnection("127.0.0.1", self.port, timeout=self.timeout)
        self._connection = connection
        fields = {name.replace("_", "-"): value for name, value in headers.items()} | {"X-API-Key": self.key}
        content = None if body is None else json.dumps(body).encode()
        if content is not None:
            fields["Content-Type"] = "application/json"
        try:
            connection.request(method, path, content, fields)
            response = connection.getresponse()
            return response.status, response.read()
        except (OSError, HTTPException):
            self.close()
            return NO_ANSWER, b""

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
