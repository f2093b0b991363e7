"""Why the business refuses a change: kinds that every surface answers in its own way."""


class DomainError(Exception):
    """A rule refused the change; nothing was done. `message` is a sentence for the caller."""

    message = "The change was refused."

    def __init__(self, message: str | None = None) -> None:
        self.message = message or self.message
        super().__init__(self.message)


class NotFound(DomainError):
    """What was asked for is not there, or belongs to somebody else, which reads the same."""

    message = "Not found."


class Forbidden(DomainError):
    """The caller is known and may not do this."""


class Conflict(DomainError):
    """The state of the thing does not allow this now."""


class Unavailable(DomainError):
    """The capability is switched off."""


class Invalid(DomainError):
    """What was sent breaks a rule; `errors` maps each field to its sentences."""

    field = "non_field_errors"

    def __init__(self, message: str | None = None, *, field: str | None = None) -> None:
        super().__init__(message)
        self.errors: dict[str, list[str]] = {field or self.field: [self.message]}
