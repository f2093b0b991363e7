"""A patient client of the two APIs: it waits out restarts and rate limits, and repeats calls safely."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import requests

PATIENCE_SECONDS = 60.0
PAUSE_SECONDS = 0.5
TIMEOUT_SECONDS = (3.0, 15.0)
AGENCY, WORKSPACE = "/api/agency/v1", "/api/v1"


class DemoFailed(Exception):
    """The demonstration cannot go on; the message says why."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a call. `repeated`: an earlier try may have done the work already."""

    status: int
    body: dict[str, Any]
    milliseconds: float
    answered_at: float
    repeated: bool

    @property
    def data(self) -> Any:
        return self.body.get("data")

    @property
    def message(self) -> str:
        return str(self.body.get("message", "no message"))


@dataclass
class PatientClient:
    """Makes calls. `on_wait` gets a sentence when a call waits: for the system, or for a rate limit."""

    base_url: str
    key: str
    on_wait: Callable[[str], None]
    patience: float = PATIENCE_SECONDS
    surface: str = AGENCY
    session: requests.Session = field(default_factory=requests.Session)

    def __post_init__(self) -> None:
        self.session.trust_env = False  # use no proxy from the environment

    def call(self, method: str, path: str, body: Any = None, *, also: tuple[int, ...] = (), **headers: str) -> Answer:
        """Call until there is a final answer. Raises `DemoFailed` for a refusal with a status that is not in `also`."""
        until, tries = time.monotonic() + self.patience, 0
        while True:
            answer = self._try(method, path, body, headers, repeated=tries > 0)
            if answer is not None and answer.status == 429:
                until += self._wait_for_the_limit(answer)
                continue
            if answer is not None and _is_final(answer):
                break
            if time.monotonic() > until:
                raise DemoFailed(f"{method} {path}: no answer within {self.patience:.0f} seconds.")
            if tries == 0:
                self.on_wait(f"{answer.message if answer else 'No connection.'} Trying again…")
            tries += 1
            time.sleep(PAUSE_SECONDS)
        if answer.status >= 300 and answer.status not in also:
            raise DemoFailed(f"{method} {path}: {answer.status} {answer.message}")
        return answer

    def _try(self, method: str, path: str, body: Any, headers: dict[str, str], *, repeated: bool) -> Answer | None:
        """Give the answer, or None if the connection broke before it came."""
        started = time.monotonic()
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        try:
            response = self.session.request(
                method,
                f"{self.base_url}{self.surface}{path}",
                json=body,
                headers={"x-api-key": self.key, **names},
                timeout=TIMEOUT_SECONDS,
            )
            found = response.json()
        except (requests.ConnectionError, requests.Timeout, requests.exceptions.ChunkedEncodingError):
            return None
        except requests.exceptions.JSONDecodeError as error:
            raise DemoFailed(f"{self.base_url} does not speak this API.") from error
        now = time.monotonic()
        if response.status_code == 429:
            found["retry_after"] = response.headers.get("Retry-After", "60")
        return Answer(response.status_code, found, (now - started) * 1000, now, repeated)

    def _wait_for_the_limit(self, answer: Answer) -> float:
        seconds = min(float(answer.body["retry_after"]), 61.0)
        self.on_wait(f"rate limit reached, waiting {seconds:.0f} seconds…")
        time.sleep(seconds)
        return seconds


def _is_final(answer: Answer) -> bool:
    """Say whether the answer is final. A repeated call gets 409 while its own first try is still at work."""
    return answer.status < 500 and not (answer.repeated and answer.status == 409)
