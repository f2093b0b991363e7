"""The faults that can be played, and the calls at which they can happen."""

from dataclasses import dataclass
from typing import Final

# A fault can name a group, which stands for its members.
GROUPS: Final[dict[str, tuple[str, ...]]] = {
    "list": ("me_accounts", "me_businesses", "business_edge", "waba", "phone_numbers", "page")
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
    "app_data",
    "send",
    "publish",
    "upload",
    "media",
    "templates",
    "profile",
)
# Faults of the connection: in place of the call, after the call, or a right answer that comes too slowly.
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
# Faults in the content of a successful answer.
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
    """`kind` is a name from above or of an error. `times` None: always; `every` 2: at every second call."""

    call: str
    kind: str
    times: int | None = None
    every: int = 1
    seconds: float = 60.0

    def is_at(self, call: str) -> bool:
        return call == self.call or call in GROUPS.get(self.call, ())
