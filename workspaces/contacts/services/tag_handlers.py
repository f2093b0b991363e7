"""Tells higher apps which tags were added to contacts, in the transaction of the change."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from config.hooks import Registry
from workspaces.subaccounts.models import Workspace


class ChangeCause(NamedTuple):
    """The automation, and its run, that changed a contact. `depth` counts the automations in a row that led there."""

    run: int
    automation: int
    depth: int


@dataclass(frozen=True, slots=True)
class AddedTags:
    """The tags that one contact got and did not have in any spelling."""

    contact: int
    tags: Sequence[str]


@dataclass(frozen=True, slots=True)
class TagHandler:
    """A higher app's function that is told of added tags. `now` is the time of the change; a person has no cause."""

    name: str
    tags_added: Callable[[Workspace, Sequence[AddedTags], datetime, ChangeCause | None], None]


tag_handlers = Registry[TagHandler](
    "handlers of added tags",
    called=(
        "`create_contact` and `update_contact` call each after they have saved a contact with new tags, an import "
        "once for each batch of rows; a merge calls none"
    ),
    transaction="the caller's",
    failure="rolls the caller back",
)


def tell_tags_added(
    workspace: Workspace, added: Sequence[AddedTags], *, now: datetime, cause: ChangeCause | None = None
) -> None:
    """Call the handlers if there are any added tags."""
    some = [one for one in added if one.tags]
    if some:
        for handler in tag_handlers:
            handler.tags_added(workspace, some, now, cause)
