"""Actions on many objects at once: each app declares its lists and the actions on them in its hooks."""

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
    """The label of an object in a list, and the address of its page."""

    label: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkTargets:
    """A list whose objects can be changed together; `url_name` is its page, `most` the limit for one operation.

    `walk` returns the ids of the next objects after a cursor; `shown` returns label and page of objects by their ids.
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
    """One action. `apply` does it to one object, in the caller's transaction, and returns whether anything changed.

    It calls the service that the API calls. `make_form` makes the form for the action's parameters, which
    `parameters_of` reads from the valid form. `text` says what will happen.
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
    """The call of an action for one object."""

    agency: Agency
    target_id: int
    parameters: Mapping[str, Any]
    now: datetime
    by: Actor


class ActionNotFound(NotFound):
    message = "Action not found."


bulk_actions = Registry[BulkAction](
    "actions on many things",
    called=(
        "`make_items` calls `targets.walk`, then `do_item` calls `apply` for each object; the console's pages "
        "call the rest"
    ),
    transaction="its own, one for each object or each piece of the list",
    failure=(
        "an error of the domain or of the data fails the object; another is logged, and the job waits for the next run"
    ),
)


def actions_on(targets: str) -> list[BulkAction]:
    """Return the actions on the objects of a list, in the order of the declarations."""
    return [action for action in bulk_actions if action.targets.name == targets]


def bulk_action(name: str) -> BulkAction:
    """Return an action. Raises `ActionNotFound`."""
    found = bulk_actions.get(name)
    if found is None:
        raise ActionNotFound
    return found
