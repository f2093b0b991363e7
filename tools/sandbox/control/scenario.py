"""The scenario: what a test or an integrator lets the sandbox play."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Self

from tools.sandbox.control.faults import AFTER_CALL, BEFORE_CALL, CALLS, GROUPS, MUTATIONS, SLOW, Fault
from tools.sandbox.control.people import PEOPLE
from tools.sandbox.control.statuses import COURSES
from tools.sandbox.graph.errors import ERRORS

KINDS = {*BEFORE_CALL, *AFTER_CALL, *SLOW, *MUTATIONS, *ERRORS}
DECISIONS = ("approve", "decline")


class InvalidScenario(ValueError):
    """The scenario holds a name that the sandbox does not know; the message says which."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """With a `decision` the dialog answers by itself, as `person`.

    It then gives all permissions but the `declined` ones, for all accounts or only for those in `accounts`. `statuses`
    is the course of statuses after a message that asks for none. With `has_windows` free text needs a message of the
    person in the last day. `usage` has the content of the usage headers of sends: `{percent, minutes}` for `app`,
    business accounts and Pages.
    """

    person: str = ""
    decision: str = ""
    declined: tuple[str, ...] = ()
    accounts: tuple[str, ...] | None = None
    code_seconds: float = 600.0
    faults: tuple[Fault, ...] = ()
    statuses: str = "read"
    status_seconds: float = 0.3
    has_windows: bool = False
    usage: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    @classmethod
    def read(cls, given: dict[str, Any]) -> Self:
        """Read and check a scenario. Raises `InvalidInputScenario`."""
        _check_known(given, {field.name for field in fields(cls)}, "field")
        if given.get("person"):
            _check_known([given["person"]], PEOPLE, "person")
        if given.get("decision"):
            _check_known([given["decision"]], DECISIONS, "decision")
        if given.get("statuses"):
            _check_known([given["statuses"]], COURSES, "course of statuses")
        if given.get("decision") and not given.get("person"):
            given = given | {"person": "ann"}
        lists = {name: tuple(given[name]) for name in ("declined", "accounts") if given.get(name) is not None}
        return cls(**{**given, **lists, "faults": tuple(map(_fault, given.get("faults", ())))})


def _fault(given: dict[str, Any]) -> Fault:
    values = dict(given)
    kind = values.pop("fault", values.get("kind"))
    _check_known(values, {"call", "kind", "times", "every", "seconds"}, "field of a fault")
    _check_known([values.get("call")], {*CALLS, *GROUPS}, "call")
    _check_known([kind], KINDS, "fault")
    return Fault(**{**values, "kind": kind})


def _check_known(names: Any, known: Any, kind: str) -> None:
    for name in names:
        if name not in known:
            raise InvalidScenario(f"{name!r} is no {kind}; there are: {', '.join(sorted(known))}")
