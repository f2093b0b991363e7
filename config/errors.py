"""Domain errors: why the business refuses a change. Each surface answers them in its own way."""


class DomainError(Exception):
    """A rule refused the change; nothing was done. `message` is a sentence for the caller."""

    message = "The change was refused."

    def __init__(self, message: str | None = None) -> None:
        self.message = message or self.message
        super().__init__(self.message)


class NotFound(DomainError):
    """The object does not exist, or belongs to somebody else. Both read the same."""

    message = "Not found."


class Forbidden(DomainError):
    """The caller is known but may not do this."""


class Conflict(DomainError):
    """The object's state does not allow this now."""


class FeatureDisabled(DomainError):
    """The capability is switched off."""


class InvalidInput(DomainError):
    """The input breaks a rule. `errors` maps each field to its sentences."""

    field = "non_field_errors"

    def __init__(self, message: str | None = None, *, field: str | None = None) -> None:
        super().__init__(message)
        self.errors: dict[str, list[str]] = {field or self.field: [self.message]}
