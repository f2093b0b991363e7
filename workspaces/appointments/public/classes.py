"""The pages on which a visitor chooses a class and types who books the seat."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from itertools import groupby
from typing import Final, Unpack
from uuid import UUID

from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect

from agency.pages.branding import in_page_language
from workspaces.appointments.public.base import PageIds
from workspaces.appointments.public.choosing import ChooseForm, OfferPage
from workspaces.appointments.public.codes import book_or_explain, classes_address
from workspaces.appointments.public.details import DetailsForm, at_business, keep_wish, typed_before
from workspaces.appointments.services.mails import time_in_words
from workspaces.appointments.services.visitors import TooManyCodes, Wish, class_services, is_verified
from workspaces.catalogue.models import Service
from workspaces.classes.models import ClassSession
from workspaces.classes.services import open_classes

CLASSES_ON_A_PAGE: Final = 20


@dataclass(frozen=True, slots=True)
class Day:
    """The classes of a day by the visitor's clock."""

    date: date
    classes: list[ClassSession]


class ClassServicePage(OfferPage):
    """A page about one service of the kind class."""

    def offers(self) -> "QuerySet[Service]":
        return class_services(self.booking_page, now=self.now)


class Classes(ClassServicePage):
    """Lists the classes of a service that have not begun, by day."""

    http_method_names = ["get", "head"]

    def get(self, request: HttpRequest, slug: str, service: UUID | None) -> HttpResponse:
        rows = open_classes(workspace=self.workspace, now=self.now).filter(service=self.service)
        shown = Paginator(rows, CLASSES_ON_A_PAGE).get_page(request.GET.get("page", "")[:6])
        return self.page(
            "appointments/public/classes/classes.html",
            classes=shown,
            days=self._days(shown.object_list),
            form=ChooseForm(staff=[], chosen=None, zone=self.zone),
            kept=self.kept,
            is_gone=bool(request.GET.get("gone")),
        )

    def _days(self, sessions: Iterable[ClassSession]) -> list[Day]:
        by_day = groupby(sessions, key=lambda session: self.local(session.starts_at).date())
        return [Day(day, list(classes)) for day, classes in by_day]


class BookClass(ClassServicePage):
    """Asks who books a seat. Sending it leads to the code; a verified visitor books at once.

    A class that is full by then is shown again with its waiting list, which a visitor joins by sending the form again.
    """

    session: ClassSession

    def find(self, **ids: Unpack[PageIds]) -> None:
        super().find(**ids)
        rows = ClassSession.objects.of(self.workspace).with_names()
        found = rows.filter(service=self.service, uuid=ids["session"]).first() if ids["session"] else None
        if found is None:
            raise Http404
        self.session = found

    @property
    def is_open(self) -> bool:
        return self.session.status == ClassSession.Status.SCHEDULED and self.session.starts_at > self.now

    def get(self, request: HttpRequest, slug: str, service: UUID | None, session: UUID | None) -> HttpResponse:
        if not self.is_open:
            return redirect(classes_address(self, self.service.uuid, kept=self.kept))
        form = DetailsForm(now=self.now, initial=typed_before(self.kept), with_note=False)
        return self._show(form, is_changed=bool(request.GET.get("again")))

    def post(self, request: HttpRequest, slug: str, service: UUID | None, session: UUID | None) -> HttpResponse:
        if not self.is_open:
            return redirect(classes_address(self, self.service.uuid, kept=self.kept))
        form = DetailsForm(request.POST, now=self.now, initial={}, with_note=False)
        if not form.is_valid():
            return self._show(form, status=422)
        waits = bool(request.POST.get("waits"))
        if self.session.is_full and not waits:
            return self._show(form, status=409, is_changed=True)
        try:
            booking = keep_wish(self, self._wish(form.cleaned_data, waits=waits))
        except TooManyCodes as refusal:
            form.add_error(None, in_page_language(refusal.message))
            return self._show(form, status=429)
        if is_verified(booking, now=self.now):
            return book_or_explain(self, booking)
        return redirect("book:code", slug, booking.uuid)

    def _wish(self, given: Mapping[str, str], *, waits: bool) -> Wish:
        return Wish(
            service=self.service,
            staff=None,
            starts_at=self.session.starts_at,
            timezone=self.zone,
            language=self.language,
            name=given["name"],
            email=given["email"],
            phone=given["phone"],
            note="",
            class_session=self.session,
            waits=waits,
        )

    def _show(self, form: DetailsForm, *, status: int = 200, is_changed: bool = False) -> HttpResponse:
        """Show the form. With `is_changed` the page says what has changed since the visitor has seen the class."""
        session = self.session
        return self.page(
            "appointments/public/details.html",
            status=status,
            form=form,
            session=session,
            staff=session.staff,
            is_changed=is_changed,
            when=time_in_words(session.starts_at, session.ends_at, self.zone),
            business_when=at_business(self, session.starts_at, session.ends_at),
        )
