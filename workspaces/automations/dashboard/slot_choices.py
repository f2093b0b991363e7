"""The choices for slots: the workspace's products, services, team members, calendars, files …."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Model, Q
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.models import User
from config.api.requests import is_storable
from config.db import like_pattern, name_key
from workspaces.automations.models import Automation
from workspaces.catalogue.models import Product, Service, ServiceCategory, Staff
from workspaces.catalogue.services import products_to_choose, services_to_choose, staff_to_choose
from workspaces.media.models import Media
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import people_of

OPENING_HOURS = "{{workspace.opening_hours}}"

# The value that a flow stores, and its name.
Choice = tuple[str, str]


@dataclass(frozen=True, slots=True)
class ChoiceSource:
    """A source of choices. `offered` gives at most so many of the workspace's objects that match a search.

    `find` names an object that a slot holds though it is not offered: it is past the limit, or no longer sold. It gives
    None for an object that does not exist in this workspace. `url_name` is the page that creates such an object, and
    `make` the label of the link to it.
    """

    offered: Callable[[Workspace, str, int], Iterable[Choice]]
    find: Callable[[Workspace, str], Choice | None]
    url_name: str
    make: str | Promise


def _rows(
    model: type[Model], rows: Callable[[Workspace, str, int], Iterable[Any]], url_name: str, make: str | Promise
) -> ChoiceSource:
    """Offer rows of a table. A flow names them by their uuids."""

    def offered(workspace: Workspace, search: str, most: int) -> Iterable[Choice]:
        return [(str(row.uuid), str(row)) for row in rows(workspace, search, most)]

    def find(workspace: Workspace, value: str) -> Choice | None:
        try:
            row = model._default_manager.filter(workspace=workspace, uuid=UUID(value)).first()
        except ValueError:
            return None
        return (value, str(row)) if row else None

    return ChoiceSource(offered, find, url_name, make)


def _products(workspace: Workspace, search: str, most: int) -> Iterable[Any]:
    return products_to_choose(workspace=workspace, search=search, most=most)


def _services(workspace: Workspace, search: str, most: int) -> Iterable[Any]:
    return services_to_choose(workspace=workspace, search=search, most=most)


def _staff(workspace: Workspace, search: str, most: int) -> Iterable[Any]:
    return staff_to_choose(workspace=workspace, search=search, most=most)


def _categories(workspace: Workspace, search: str, most: int) -> Iterable[Any]:
    rows = ServiceCategory.objects.of(workspace).by_name()
    return rows.filter(name_key__like=like_pattern(name_key(search)))[:most] if search else rows[:most]


def _files(workspace: Workspace, search: str, most: int) -> Iterable[Any]:
    rows = Media.objects.of(workspace).newest_first()
    return (rows.filter(filename__icontains=search) if search else rows)[:most]


def _automations(workspace: Workspace, search: str, most: int) -> Iterable[Any]:
    rows = Automation.objects.filter(workspace=workspace).order_by("name", "pk")
    return (rows.filter(name__icontains=search) if search else rows)[:most]


def _people(workspace: Workspace, search: str, most: int) -> Iterable[Choice]:
    """Offer the people of the workspace. A flow names them by e-mail, as the assignment of conversations does."""
    rows = people_of(workspace).order_by("name", "pk")
    found = rows.filter(Q(name__icontains=search) | Q(email__icontains=search)) if search else rows
    return [_person(user) for user in found[:most]]


def _find_person(workspace: Workspace, value: str) -> Choice | None:
    user = people_of(workspace).filter(email=value).first() if is_storable(value) else None
    return _person(user) if user else None


def _person(user: User) -> Choice:
    return user.email, f"{user.name} ({user.email})" if user.name else user.email


def _calendars(workspace: Workspace, search: str, most: int) -> Iterable[Choice]:
    """Offer calendars: the opening hours of the whole business, and those of team members."""
    staff = STAFF.offered(workspace, search, most)
    return staff if search else [_opening_hours(), *staff][:most]


def _find_calendar(workspace: Workspace, value: str) -> Choice | None:
    return _opening_hours() if value == OPENING_HOURS else STAFF.find(workspace, value)


def _opening_hours() -> Choice:
    return OPENING_HOURS, _("The opening hours")


STAFF = _rows(Staff, _staff, "app:staff-new", gettext_lazy("Add a team member"))
PEOPLE = ChoiceSource(_people, _find_person, "app:person-invite", gettext_lazy("Invite somebody"))
# The picker for each `of` of a flow's field.
CHOICE_SOURCES = {
    "product": _rows(Product, _products, "app:product-new", gettext_lazy("Add a product")),
    "service": _rows(Service, _services, "app:service-new", gettext_lazy("Add a service")),
    "category": _rows(ServiceCategory, _categories, "app:service-category-new", gettext_lazy("Add a category")),
    "agent": STAFF,
    "calendar": ChoiceSource(_calendars, _find_calendar, STAFF.url_name, STAFF.make),
    "member": PEOPLE,
    "team": PEOPLE,
    "automation": _rows(Automation, _automations, "app:gallery", gettext_lazy("Add an automation")),
    "media": _rows(Media, _files, "app:api-keys", gettext_lazy("Files come with messages, or through the REST API")),
}
