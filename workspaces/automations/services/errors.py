"""The errors that changes of automations raise."""

from collections.abc import Iterable

from config.errors import InvalidInput, NotFound
from workspaces.automations.flows.checks import Problem


class AutomationNotFound(NotFound):
    message = "Automation not found."


class SlotNotFound(NotFound):
    message = "This automation has no such slot."


class FlowRefused(InvalidInput):
    """The flow cannot be stored or published. `problems` gives the reasons in the order of the flow."""

    field = "flow"

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = list(problems)
        super().__init__(self.problems[0].sentence)
        self.errors = {self.field: [problem.sentence for problem in self.problems]}


class NotReady(InvalidInput):
    """The automation cannot be switched on yet. `reasons` says what to do first."""

    field = "enabled"

    def __init__(self, reasons: Iterable[str]) -> None:
        self.reasons = list(reasons)
        super().__init__(self.reasons[0])
        self.errors = {self.field: self.reasons}


class SlotRefused(InvalidInput):
    """A value does not fit its slot. The keys of `errors` are `<node>.<path>`."""

    field = "slots"

    def __init__(self, errors: dict[str, list[str]]) -> None:
        super().__init__(next(iter(errors.values()))[0])
        self.errors = errors


class NameRequired(InvalidInput):
    field = "name"
    message = "An automation needs a name of at most 120 characters, on one line."
