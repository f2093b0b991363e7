"""The errors that changes of automations raise."""

from collections.abc import Iterable

from config.errors import Conflict, InvalidInput, NotFound
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


class StepNotFound(NotFound):
    message = "Step not found."


class DraftChanged(Conflict):
    """The draft is not the one that the person saw, so the change might not be what they want."""

    message = "This automation was changed meanwhile, maybe in another tab. Nothing was saved. Check it and try again."


class NothingToUndo(Conflict):
    message = "There is nothing to undo."


class NothingToRedo(Conflict):
    message = "There is nothing to redo."


class EditNotPossible(InvalidInput):
    """The change would break the flow. `unreached` names the steps to which nothing would lead any more."""

    field = "flow"

    def __init__(self, message: str, unreached: Iterable[str] = ()) -> None:
        super().__init__(message)
        self.unreached = list(unreached)


class ValuesRefused(InvalidInput):
    """A value does not fit its field. The keys of `errors` are paths below the step's configuration."""

    field = "config"

    def __init__(self, errors: dict[str, list[str]]) -> None:
        super().__init__(next(iter(errors.values()))[0])
        self.errors = errors


class TypeNotOffered(InvalidInput):
    field = "type"
    message = "This is not available on this channel."


class TooManyAutomations(InvalidInput):
    field = "name"
    message = "A workspace can have at most 1,000 automations."


class ReentryDaysRequired(InvalidInput):
    field = "reentry_days"
    message = "Say after how many days, from 1 to 365."


class NameRequired(InvalidInput):
    field = "name"
    message = "An automation needs a name of at most 120 characters, on one line."
