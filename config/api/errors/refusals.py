"""Refusals that belong to HTTP alone. No service is called for such a request."""

from collections.abc import Mapping


class Refusal(Exception):
    """The request is answered with this status and sentence before any work is done."""

    status = 400
    message = "Bad request."

    def __init__(self, message: str | None = None, *, headers: Mapping[str, str] | None = None) -> None:
        self.message = message or self.message
        self.headers = dict(headers or {})
        super().__init__(self.message)


class Malformed(Refusal):
    """The body or the query string cannot be read."""


class Unauthorized(Refusal):
    """The caller is unknown. The header keeps DRF and proxies from changing the answer."""

    status = 401
    message = "Invalid API key."

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message, headers={"WWW-Authenticate": "Bearer"})


class TooLarge(Refusal):
    status = 413
    message = "The body is larger than 1 MiB."


class UnsupportedMedia(Refusal):
    status = 415
    message = "Send the body as application/json in UTF-8."


class TooManyRequests(Refusal):
    """The caller is over the limit. `seconds` is the whole number of seconds until the window ends."""

    status = 429

    def __init__(self, seconds: int) -> None:
        super().__init__(f"Too many requests. Retry after {seconds} seconds.", headers={"Retry-After": str(seconds)})
