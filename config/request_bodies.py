"""Rules for request bodies by path: how large they may be, and which headers they need to be read.

The web server (`config/serving/`) reads bodies before any view runs. These rules are all that it knows of the paths.
"""

from dataclasses import dataclass
from typing import Final

from config.hooks import Registry

MIB: Final = 1024 * 1024
# Before the web server reads a large body, it asks Django. An answer with this header means that the server must read
# the body and run the request again with it.
BODY_ADMITTED: Final = "X-Body-Admitted"


@dataclass(frozen=True, slots=True)
class BodyRule:
    """The rule for bodies sent to a path, or to all paths below a `name` that ends in a slash.

    `headers` are in lower case. A request with none of them is answered by its view with the body left unread, so that
    view must refuse it for the missing header. With `view_refuses` the view itself says that a body is too large. With
    `signed_in` a body that does not stay in memory is read only from a signed-in user. A process takes at most
    `most_at_once` such requests at a time, so that their bodies do not fill its disk.
    """

    name: str
    most_bytes: int = MIB
    headers: tuple[bytes, ...] = ()
    view_refuses: bool = False
    most_at_once: int | None = None
    signed_in: bool = False


class BodyRules(Registry[BodyRule]):
    """The rules of all apps."""

    default: Final = BodyRule("/")

    def of(self, path: str) -> BodyRule:
        """Return the rule of a path: its own, else that of the longest name above it, else 1 MiB."""
        own = self.get(path)
        if own is not None:
            return own
        above = [rule for rule in self if rule.name.endswith("/") and path.startswith(rule.name)]
        return max(above, key=lambda rule: len(rule.name), default=self.default)


body_rules = BodyRules(
    "rules for bodies",
    called=(
        "the web server reads the rule of a path before it reads a body (`BodyRules.of`); `BodyAdmission` and the "
        "reader of uploads do so too"
    ),
    transaction="none",
    failure="cannot happen: the items are data",
)
# Both API surfaces look for a key and count the call before they read a body. They refuse a body that is too large with
# their own message.
body_rules.add(BodyRule("/api/", headers=(b"x-api-key", b"authorization"), view_refuses=True))
