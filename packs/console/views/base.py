"""Base views of the console's pages about packs, and the reading of a posted order."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.console.base import ConsoleView, breadcrumb
from config.api.requests import parse_uuid
from packs.models import Pack
from packs.services import find_pack, replaces_platform
from workspaces.subaccounts.models import CHANNEL_NAMES

PACKS = gettext_lazy("Packs")
LIST = "console:packs"
ONE = "console:pack"
LIBRARY = "console:pack-library"


class PackConsoleView(ConsoleView):
    """A page about packs."""

    nav = LIST


class PackDetailView(PackConsoleView):
    """A page about one pack of the agency. Malformed, unknown and foreign ids get the same answer."""

    pack: Pack

    def find(self, **ids: Any) -> None:
        self.pack = find_pack(agency=self.agency, uuid=ids["uuid"])
        self.name = self.pack.name

    def crumbs(self) -> list[Any]:
        return [breadcrumb(PACKS, LIST), breadcrumb(self.name, ONE, self.pack.uuid)]

    def platform_packs_warning(self) -> str:
        """Warn if hiding this pack shows the service's own packs again, else return ""."""
        others = Pack.objects.of(self.agency).published().exclude(pk=self.pack.pk)
        is_published = self.pack.status == Pack.Status.PUBLISHED
        if not is_published or others.exists() or not replaces_platform(self.agency.pk):
            return ""
        return _("It is your only published pack: without it customers see the service's own packs again.")

    def saved(self, message: str) -> HttpResponse:
        return self.done(message % {"name": self.pack.name}, ONE, self.pack.uuid)


def posted_order(request: HttpRequest) -> list[UUID]:
    """Return the order that a list's form sends: the ids in `order`, with the id in `up` or `down` moved by one."""
    order = [found for one in request.POST.get("order", "").split(",") if (found := parse_uuid(one))]
    order = list(dict.fromkeys(order))
    for name, step in (("up", -1), ("down", 1)):
        moved = parse_uuid(request.POST.get(name, ""))
        if moved in order:
            at = order.index(moved)
            to = min(max(at + step, 0), len(order) - 1)
            order[at], order[to] = order[to], order[at]
    return order


def redirect_to_moved(request: HttpRequest, to: str, *args: object) -> HttpResponse:
    """Redirect to the list, at the row that was moved."""
    moved = parse_uuid(request.POST.get("up", "") or request.POST.get("down", ""))
    return redirect(reverse(to, args=args) + (f"#row-{moved}" if moved else ""))


def channel_names(kinds: Sequence[str]) -> str:
    return ", ".join(CHANNEL_NAMES[kind] for kind in kinds)
