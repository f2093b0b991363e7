"""Who makes a change: an API key, a person, a customer on a page of ours, our support, or the system itself."""

from dataclasses import dataclass
from typing import Literal

ActorKind = Literal["agency_key", "workspace_key", "user", "customer", "staff", "system"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """Goes into every activity entry. `id` is a public id or a user's number, never a secret."""

    kind: ActorKind
    id: str
    label: str
    address: str = ""
    request_id: str = ""


SYSTEM = Actor(kind="system", id="", label="system")
