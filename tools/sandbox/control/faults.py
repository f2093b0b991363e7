"""What can be made to go wrong, and at which call."""

from dataclasses import dataclass
from typing import Final

# Calls that a fault can name; a group stands for its members.
GROUPS: Final[dict[str, tuple[str, ...]]] = {
    "list": ("me_accounts", "me_businesses", "business_edge", "waba", "phone_numbers", "page"),
}
CALLS: Final = (
    "exchange",
    "lengthen",
    "debug_token",
    "permissions",
    *GROUPS["list"],
    "phone",
    "subscribe",
    "subscriptions",
    "unsubscribe",
    "register",
    "send",
    "upload",
    "media",
    "templates",
    "profile",
)
# Of the connection: before the call is done, after it was done, or too slowly.
BEFORE_CALL: Final = (
    "hang",
    "close",
    "429",
    "500",
    "503",
    "html",
    "html_404",
    "redirect",
    "garbage",
    "not_an_object",
    "huge",
)
AFTER_CALL: Final = ("accept_then_hang", "accept_then_500", "accept_then_close", "accept_then_throttled_for_long")
SLOW: Final = ("drip", "drip_head")
# Of what a good answer says.
MUTATIONS: Final = (
    "success_false",
    "without_token",
    "odd_expires_in",
    "invalid",
    "other_app",
    "expired",
    "odd_expiry",
    "never_expires",
    "without_targets",
    "endless",
    "bare_next",
    "only_defaults",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """`kind` is one of those above or an error's name. `times` None: always; `every` 2: each other call."""

    call: str
    kind: str
    times: int | None = None
    every: int = 1
    seconds: float = 60.0

    def is_at(self, call: str) -> bool:
        return call == self.call or call in GROUPS.get(self.call, ())
