"""The first pages of a booking: the services, then the person and the time."""

from collections.abc import Sequence
from typing import Final, Unpack
from uuid import UUID

from django import forms
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.functional import cached_property
from django.utils.translation import gettext_lazy as _

from agency.pages.forms import LongSelect
from config.api.requests import parse_uuid
from workspaces.appointments.models import VisitorBooking
from workspaces.appointments.public.base import PageIds, WorkspacePage, query
from workspaces.appointments.public.weeks import Choices, week_of
from workspaces.appointments.services.visitors import bookable_services, kept_booking, offered_services
from workspaces.catalogue.models import Service, Staff
from workspaces.subaccounts.pages.business import ZoneSelect, timezone_choices

SERVICES_ON_A_PAGE: Final = 50
MOST_STAFF: Final = 200


class Services(WorkspacePage):
    """Lists the services that can be booked."""

    http_method_names = ["get", "head"]

    def get(self, request: HttpRequest, slug: str) -> HttpResponse:
        pages = Paginator(offered_services(self.booking_page, now=self.now), SERVICES_ON_A_PAGE)
        shown = pages.get_page(request.GET.get("page", "")[:6])
        return self.page("appointments/public/services.html", services=shown, carried=query(zone=self.chosen_zone))

    @property
    def chosen_zone(self) -> str:
        return self.zone if self.zone != self.workspace.timezone else ""


class ChooseForm(forms.Form):
    """Chooses the person and the clock. It is sent with GET and changes nothing."""

    def __init__(self, *, staff: Sequence[Staff], chosen: Staff | None, zone: str) -> None:
        super().__init__(initial={"staff": str(chosen.uuid) if chosen else "", "zone": zone})
        if len(staff) > 1:
            names = [("", _("Anybody who is free")), *((str(one.uuid), one.name) for one in staff)]
            self.fields["staff"] = forms.ChoiceField(label=_("With"), choices=names, required=False, widget=LongSelect)
        self.fields["zone"] = forms.ChoiceField(
            label=_("Time zone of the times"), choices=timezone_choices(), widget=ZoneSelect
        )


class OfferPage(WorkspacePage):
    """A page about one service that is offered. Unknown ids are 404."""

    service: Service

    def offers(self) -> "QuerySet[Service]":
        """Return the services that a page of this kind can be about."""
        raise NotImplementedError

    def find(self, **ids: Unpack[PageIds]) -> None:
        super().find(**ids)
        uuid: UUID | None = ids["service"]
        found = self.offers().filter(uuid=uuid).first() if uuid else None
        if found is None:
            raise Http404
        self.service = found

    @cached_property
    def kept(self) -> VisitorBooking | None:
        """What this visitor has typed before, if the address names it."""
        return kept_booking(self.workspace, parse_uuid(self.request.GET.get("kept", "")))

    def carried(self, **more: object) -> str:
        """Return the query that carries the choices from page to page."""
        return query(zone=self.zone, kept=self.kept.uuid if self.kept else "", **more)

    def page(self, template: str, *, status: int = 200, **context: object) -> HttpResponse:
        return super().page(template, status=status, service=self.service, carried=self.carried(), **context)


class ServicePage(OfferPage):
    """A page about one service that can be booked, and perhaps one person."""

    def offers(self) -> "QuerySet[Service]":
        return bookable_services(self.workspace)

    @cached_property
    def staff_members(self) -> list[Staff]:
        rows = Staff.objects.of(self.workspace).filter(services=self.service)
        return list(rows.by_name()[:MOST_STAFF])

    @cached_property
    def staff(self) -> Staff | None:
        """The person whom the visitor has chosen; None for anybody. One who no longer provides it counts as nobody."""
        wanted = parse_uuid(self.request.GET.get("staff", ""))
        return next((one for one in self.staff_members if one.uuid == wanted), None)

    @property
    def choices(self) -> Choices:
        return Choices(self.workspace, self.service, self.staff, self.zone, self.now)

    def carried(self, **more: object) -> str:
        return super().carried(staff=self.staff.uuid if self.staff else "", **more)

    def page(self, template: str, *, status: int = 200, **context: object) -> HttpResponse:
        return super().page(template, status=status, staff=self.staff, **context)


class Times(ServicePage):
    """Shows a week of days, and the free times of one of them as links."""

    http_method_names = ["get", "head"]

    def get(self, request: HttpRequest, slug: str, service: UUID | None) -> HttpResponse:
        week = week_of(self.choices, asked=request.GET.get("week", ""), day=request.GET.get("day", ""))
        return self.page(
            "appointments/public/times.html",
            week=week,
            form=ChooseForm(staff=self.staff_members, chosen=self.staff, zone=self.zone),
            kept=self.kept,
            is_taken=bool(request.GET.get("taken")),
        )
