"""How large a request's body may be, by path, and without which headers it is not even read.

The web server's side (`config/serving/`) reads bodies before any view runs; these rules are all it knows of the paths.
"""

from dataclasses import dataclass
from typing import Final

from config.hooks import Registry

MIB: Final = 1024 * 1024
# The header that says to the server, which asked before it reads a body, that the request is to come again with it.
ADMITTED: Final = "X-Body-Admitted"


@dataclass(frozen=True, slots=True)
class BodyRule:
    """What holds for the bodies sent to a path, or to all paths below a `name` that ends in a slash.

    A request with none of `headers` (in lower case) is answered by its view with the body left unread, so that view
    must refuse it for the missing header. With `view_refuses` the view itself says that a body is too large.
    With `signed_in` a body that does not stay in memory is only read from somebody who has signed in.
    A process takes no more than `most_at_once` such requests at a time, so that their bodies do not fill its disk.
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
        """Give the rule of a path: its own, else that of the longest name above it, else 1 MiB."""
        own = self.get(path)
        if own is not None:
            return own
        above = [rule for rule in self if rule.name.endswith("/") and path.startswith(rule.name)]
        return max(above, key=lambda rule: len(rule.name), default=self.default)


body_rules = BodyRules("rules for bodies")
# Both surfaces look for a key before they read, count the call, and refuse what is too large in their own words.
body_rules.add(BodyRule("/api/", headers=(b"x-api-key", b"authorization"), view_refuses=True))
