"""Why a call of a payment provider has no usable result."""

from typing import Final

PASSING: Final = frozenset({"unavailable", "rate_limited"})
# Only the account's owner can end these, with another key.
OF_THE_KEY: Final = frozenset({"key_refused", "permission_missing"})


class ProviderFault(Exception):
    """`code` is key_refused, permission_missing, rate_limited, unavailable, refused or not_found.

    `reason` is the provider's own code, if it gave one. Neither holds a secret.
    """

    def __init__(self, code: str, reason: str = "") -> None:
        super().__init__(code)
        self.code, self.reason = code, reason[:60]

    @property
    def is_passing(self) -> bool:
        """Whether the same call may succeed in a moment."""
        return self.code in PASSING
