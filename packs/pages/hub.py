"""The console's panel of a sub-account's packs, with the installed automations and a link to install a pack."""

from collections.abc import Iterator
from typing import Final

from django.db.models import Count, Max, Min, Q
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from workspaces.automations.models import Automation
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.pages.hub import Column, HubAction, HubContent, HubPanel, HubRow, opened_as_customer


def _rows(workspace: Workspace, most: int) -> Iterator[HubRow]:
    """Yield a row for each installed pack. It has the pack's name at the install, as the pack may be gone."""
    own = Automation.objects.filter(workspace=workspace, from_pack__isnull=False).order_by()
    packs = own.values("from_pack").annotate(
        name=Max("from_pack_name"),
        held=Count("pk"),
        on=Count("pk", filter=Q(enabled=True)),
        since=Min("created_at"),
        version=Max("published__number"),
    )
    for pack in packs.order_by("-since", "from_pack")[:most]:
        held = ngettext("%(count)s automation, %(on)s on", "%(count)s automations, %(on)s on", pack["held"])
        shown = held % {"count": pack["held"], "on": pack["on"]}
        version = _("up to version %(number)s") % {"number": pack["version"]} if pack["version"] else ""
        yield HubRow(title=pack["name"], detail=" · ".join(filter(None, [shown, version])), at=pack["since"])


def packs(workspace: Workspace, most: int) -> HubContent:
    install = HubAction(label=_("Install a pack"), url=reverse("console:pack-install-for", args=[workspace.uuid]))
    return HubContent(
        rows=_rows(workspace, most),
        empty=_("No pack is installed. Install one: its automations are added switched off."),
        actions=[
            *([install] if workspace.is_active else []),
            *opened_as_customer(workspace, "app:automations", label=_("Open Automations as customer")),
        ],
    )


PANELS: Final = (HubPanel(name="packs", label=gettext_lazy("Packs"), order=20, content=packs, column=Column.SIDE),)
