"""What a request did, so that tests can compare it for an address that is known and for one that is not."""

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from django.contrib.auth.hashers import MD5PasswordHasher
from django.db import connection
from django.test import override_settings
from django.test.utils import CaptureQueriesContext

VARIABLE = re.compile(r"'(?:[^']|'')*'|\b[0-9a-f]{8}-[0-9a-f-]{27}\b|\bs\d+_x\d+\b|\d+")


class CountingHasher(MD5PasswordHasher):
    """Counts how often a password was hashed."""

    times = 0

    def encode(self, password: str, salt: str) -> str:
        CountingHasher.times += 1
        return super().encode(password, salt)


class Work(NamedTuple):
    """The statements in their order, without values; how many passwords were hashed; the answer."""

    statements: list[str]
    hashed: int
    answer: Any

    @property
    def seen(self) -> tuple[int, str, list[str]]:
        """What the browser could tell: status, where it is led, and which cookies it was given."""
        answer = self.answer
        return answer.status_code, VARIABLE.sub("?", answer.headers.get("Location", "")), sorted(answer.cookies)


def work_of(request: Callable[[], Any]) -> Work:
    """Do a request, and say what was done for it."""
    CountingHasher.times = 0
    with (
        override_settings(PASSWORD_HASHERS=[f"{__name__}.CountingHasher"]),
        CaptureQueriesContext(connection) as captured,
    ):
        answer = request()
    return Work([VARIABLE.sub("?", query["sql"]) for query in captured.captured_queries], CountingHasher.times, answer)
