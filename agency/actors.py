"""Who makes a change: an API key, a person, a customer on a page of ours, our support, or the system itself."""

from dataclasses import dataclass
from typing import Literal

ActorKind = Literal["agency_key", "workspace_key", "user", "customer", "staff", "system"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """Goes into every activity entry. `id` is a public id or a user's number, never a secret.

    `acting_for` names the customer whose dashboard somebody of the agency has opened: both stand in the log.
    `of_workspace` says that a person acts as one of a workspace's own people, not as the agency's.
    """

    kind: ActorKind
    id: str
    label: str
    acting_for: str = ""
    of_workspace: bool = False
    address: str = ""
    request_id: str = ""


SYSTEM = Actor(kind="system", id="", label="system")
