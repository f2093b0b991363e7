"""What can be done on many things at once: each app declares its lists and the actions on them in its hooks."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.functional import Promise

from agency.actors import Actor
from agency.models import Agency
from agency.services.jobs.selections import Selection, Walk
from config.errors import NotFound
from config.hooks import Registry

Text = str | Promise


@dataclass(frozen=True, slots=True)
class Shown:
    """How a thing reads in a list, and where its page is."""

    label: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkTargets:
    """A list whose things can be changed together; `url_name` is its page, at most `most` are taken at once.

    `walk` gives the ids of the next things after a cursor; `shown` how some look, by their ids.
    """

    name: str
    label: Text
    url_name: str
    most: int
    count: Callable[[Selection], int]
    walk: Callable[[Selection, Any, int], Walk]
    shown: Callable[[Agency, Collection[int]], Mapping[int, Shown]]


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkAction:
    """One verb. `apply` does it on one thing, in the caller's transaction, and says whether anything changed.

    It calls the service that the API calls. `make_form` gives the form that asks for what the action needs, of which
    `parameters_of` makes what is kept; `text` says what will happen.
    """

    name: str
    targets: BulkTargets
    label: Text
    text: Text
    apply: "Callable[[BulkCall], bool]"
    make_form: Callable[[Agency, Any], Any]
    parameters_of: Callable[[Any], dict[str, Any]] = lambda _: {}
    is_dangerous: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkCall:
    """One thing's turn."""

    agency: Agency
    target_id: int
    parameters: Mapping[str, Any]
    now: datetime
    by: Actor


class ActionNotFound(NotFound):
    message = "Action not found."


bulk_targets = Registry[BulkTargets]("lists whose things are changed together")
bulk_actions = Registry[BulkAction]("actions on many things")


def add_bulk_actions(targets: BulkTargets, *actions: BulkAction) -> None:
    """Let what a list shows be changed together in these ways."""
    bulk_targets.add(targets)
    bulk_actions.add(*actions)


def actions_on(targets: str) -> list[BulkAction]:
    """Give what can be done with the things of a list, in the order of the declarations."""
    return [action for action in bulk_actions if action.targets.name == targets]


def bulk_action(name: str) -> BulkAction:
    """Find an action. Raises `ActionNotFound`."""
    found = bulk_actions.get(name)
    if found is None:
        raise ActionNotFound
    return found
