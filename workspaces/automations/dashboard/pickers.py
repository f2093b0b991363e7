"""What a slot is chosen from: products, services, team members and files of the workspace itself."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django import forms
from django.db.models import Model
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from workspaces.automations.flows.fields import Field, Own
from workspaces.catalogue.models import Product, Service
from workspaces.catalogue.services import products_to_choose, services_to_choose
from workspaces.classes.models import Staff
from workspaces.classes.services import staff_to_choose
from workspaces.media.models import Media
from workspaces.subaccounts.models import Workspace

MOST_OFFERED = 200


@dataclass(frozen=True, slots=True)
class Picker:
    """What is offered of a workspace's rows of a table, and where a customer makes the first one.

    A flow names what is chosen by its public id.
    """

    model: type[Model]
    offered: Callable[[Workspace], Iterable[Any]]
    url_name: str
    make: str | Promise


PICKERS = {
    "product": Picker(
        Product,
        lambda workspace: products_to_choose(workspace=workspace, most=MOST_OFFERED),
        "app:product-new",
        gettext_lazy("Add a product"),
    ),
    "service": Picker(
        Service,
        lambda workspace: services_to_choose(workspace=workspace, most=MOST_OFFERED),
        "app:service-new",
        gettext_lazy("Add a service"),
    ),
    "agent": Picker(
        Staff,
        lambda workspace: staff_to_choose(workspace=workspace, most=MOST_OFFERED),
        "app:staff-new",
        gettext_lazy("Add a team member"),
    ),
    "media": Picker(
        Media,
        lambda workspace: Media.objects.of(workspace).newest_first()[:MOST_OFFERED],
        "app:api-keys",
        gettext_lazy("Files come with messages, or through the REST API"),
    ),
}


class Pickers:
    """The pickers of one page: what several slots choose from is read once."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self._offered: dict[str, dict[str, str]] = {}

    def field(self, declared: Field | None, *, label: str, hint: str, value: str) -> forms.ChoiceField | None:
        """Make the input of a slot that is chosen; None for one that is written."""
        picker = PICKERS.get(declared.of) if isinstance(declared, Own) else None
        if picker is None or not isinstance(declared, Own):
            return None
        offered = self._choices(declared.of, picker)
        help_text = hint if offered else _linked(hint, picker)
        if value and value not in offered:
            offered = {value: self._label_of(picker, value), **offered}
        choices = [("", _("Choose…")), *offered.items()]
        return forms.ChoiceField(choices=choices, label=label, help_text=help_text, initial=value, required=False)

    def _choices(self, kind: str, picker: Picker) -> dict[str, str]:
        if kind not in self._offered:
            self._offered[kind] = {str(row.uuid): str(row) for row in picker.offered(self.workspace)}
        return self._offered[kind]

    def _label_of(self, picker: Picker, value: str) -> str:
        """Name what a slot holds and is not offered: it is past the bound, sold no more, gone, or never was an id."""
        try:
            found = picker.model._default_manager.filter(workspace=self.workspace, uuid=UUID(value)).first()
        except ValueError:
            found = None
        return str(found or value)


def _linked(hint: str, picker: Picker) -> str:
    return format_html('{} <a href="{}">{}</a>', hint, reverse(picker.url_name), picker.make)
