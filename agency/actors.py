"""Who makes a change: an API key, a person, a customer on a page of ours, support, an automation, or the system."""

from dataclasses import dataclass
from typing import Literal

ActorKind = Literal["agency_key", "workspace_key", "user", "customer", "staff", "automation", "system"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """The actor in every activity entry. `id` is a public id or a user's number, never a secret.

    `acting_for` names the customer whose dashboard an agency's person has opened; the log shows both. `of_workspace`
    says that a person acts as one of a workspace's people, not as one of the agency's.
    """

    kind: ActorKind
    id: str
    label: str
    acting_for: str = ""
    of_workspace: bool = False
    address: str = ""
    request_id: str = ""


SYSTEM = Actor(kind="system", id="", label="system")
