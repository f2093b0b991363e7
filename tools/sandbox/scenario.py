"""What a test or an integrator has told the sandbox to play."""

from dataclasses import dataclass, fields
from typing import Any, Self

from tools.sandbox.errors import ERRORS
from tools.sandbox.faults import AFTERWARDS, CALLS, GROUPS, INSTEAD, SHAPES, TWISTS, Fault
from tools.sandbox.people import PEOPLE

KINDS = {*INSTEAD, *AFTERWARDS, *SHAPES, *TWISTS, *ERRORS}
DECISIONS = ("approve", "decline")


class Unplayable(ValueError):
    """The scenario holds a word the sandbox does not know; the text says which."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """With a `decision` the dialog answers by itself, as `person`.

    It then gives all permissions but the `declined` ones, for all accounts or those of `accounts` alone.
    """

    person: str = ""
    decision: str = ""
    declined: tuple[str, ...] = ()
    accounts: tuple[str, ...] | None = None
    code_seconds: float = 600.0
    faults: tuple[Fault, ...] = ()

    @classmethod
    def read(cls, told: dict[str, Any]) -> Self:
        """Raises `Unplayable`."""
        _known(told, {field.name for field in fields(cls)}, "field")
        if told.get("person"):
            _known([told["person"]], PEOPLE, "person")
        if told.get("decision"):
            _known([told["decision"]], DECISIONS, "decision")
        if told.get("decision") and not told.get("person"):
            told = told | {"person": "ann"}
        lists = {name: tuple(told[name]) for name in ("declined", "accounts") if told.get(name) is not None}
        return cls(**{**told, **lists, "faults": tuple(map(_fault, told.get("faults", ())))})


def _fault(told: dict[str, Any]) -> Fault:
    words = dict(told)
    kind = words.pop("fault", words.get("kind"))
    _known(words, {"call", "kind", "times", "every", "seconds"}, "field of a fault")
    _known([words.get("call")], {*CALLS, *GROUPS}, "call")
    _known([kind], KINDS, "fault")
    return Fault(**{**words, "kind": kind})


def _known(words: Any, known: Any, kind: str) -> None:
    for word in words:
        if word not in known:
            raise Unplayable(f"{word!r} is no {kind}; there are: {', '.join(sorted(known))}")
