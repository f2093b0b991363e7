"""How a receiver answers: mostly at once, now and then not as one wishes."""

import random
from enum import Enum

from tests.chaos.expectations import Key


class Answer(Enum):
    """What an attempt gets."""

    OK = "204"
    SLOW = "204 after two seconds"
    ERROR = "500"
    CLOSE = "the connection closed in the midst of a body"
    HANG = "nothing"
    DRIP = "a body that never ends"

    @property
    def error(self) -> str | None:
        """The word of the delivery log, None for a success."""
        return ERRORS.get(self)

    @property
    def is_success(self) -> bool:
        return self not in ERRORS


ERRORS = {Answer.ERROR: "http_5xx", Answer.CLOSE: "closed", Answer.HANG: "timeout", Answer.DRIP: "timeout"}
Script = tuple[Answer, ...]
ALWAYS: Script = (Answer.OK,)
ATTEMPTS = 3


class Behaviour:
    """Chooses by the seed, so that the same deliveries fail in the same way whenever they come.

    `odd` is the share of deliveries whose first attempt fails or is slow. An endpoint in `scripts` has a script of its
    own; a script's last answer stands for all further attempts.
    """

    def __init__(self, seed: str, *, odd: float = 0.0, scripts: dict[int, Script] | None = None) -> None:
        self._seed = seed
        self._odd = odd
        self.scripts = scripts or {}

    def stop_failing(self) -> None:
        """Answer well whatever comes for the first time from now on: a retry takes ten seconds to come."""
        self._odd = 0.0

    def script(self, endpoint: int, key: Key) -> Script:
        if endpoint in self.scripts:
            return self.scripts[endpoint]
        if not self._odd or key.event == "test":  # which is sent once
            return ALWAYS
        chosen = random.Random(f"{self._seed} {endpoint} {key.event} {key.subject}")
        if chosen.random() >= self._odd:
            return ALWAYS
        first = chosen.choice((Answer.SLOW, Answer.SLOW, Answer.ERROR, Answer.CLOSE, Answer.HANG, Answer.DRIP))
        return (first, Answer.OK)


def expected_attempts(script: Script) -> int:
    """How many attempts a delivery takes."""
    for number, answer in enumerate(script, start=1):
        if answer.is_success:
            return number
    return ATTEMPTS


def is_delivered(script: Script) -> bool:
    """Whether one of the attempts is answered with success."""
    return any(answer.is_success for answer in script[:ATTEMPTS])
