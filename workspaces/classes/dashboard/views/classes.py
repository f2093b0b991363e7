"""Classes: the list by date, one of them with its participants."""

from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from agency.pages.lists import paged, with_id
from config.api.requests.ids import parse_uuid
from config.api.requests.parameters import is_storable
from config.db import like_pattern, name_key
from workspaces.catalogue.dashboard.pages import EntryForm, EntryQuestion, Link
from workspaces.classes.dashboard.forms import ClassForm, read_day
from workspaces.classes.models import ClassSession
from workspaces.classes.services import (
    ClassNotFound,
    ParticipantNotFound,
    add_participant,
    cancel_class,
    remove_participant,
    schedule_class,
)
from workspaces.contacts.models import Contact
from workspaces.contacts.services import ContactNotFound
from workspaces.subaccounts.dashboard.surface import DashboardView

LIST, ONE = "app:classes", "app:class"
Status = ClassSession.Status
MOST_FOUND = 10


class Classes(DashboardView):
    """Classes from a day on, today where none is asked for, in the order of their start."""

    nav = LIST

    def get(self, request: HttpRequest) -> HttpResponse:
        zone = ZoneInfo(self.workspace.timezone)
        asked, status = request.GET.get("from", ""), request.GET.get("status", "")
        day, begins = read_day(asked, zone)
        rows = ClassSession.objects.of(self.workspace).with_names().filter(starts_at__gte=begins).by_start()
        if status in Status.values:
            rows = rows.filter(status=status)
        listed, pages = paged(request, rows)
        shown: dict[str, Any] = {
            "day": day,
            "asked_status": status,
            "statuses": Status.choices,
            "filtered": bool(asked or status),
        }
        return self.page("classes/classes.html", rows=listed, pages=pages, zone=zone, **shown)


class ClassNew(EntryForm[ClassForm]):
    nav = LIST
    creates = True

    def heading(self) -> str:
        return _("New class")

    def submit(self) -> str:
        return _("Schedule class")

    def crumbs(self) -> list[Link]:
        return [(_("Classes"), reverse(LIST))]

    def links(self) -> list[Link]:
        return [(_("New service"), reverse("app:service-new"))]

    def make_form(self, data: Any = None) -> ClassForm:
        return ClassForm(data, workspace=self.workspace)

    def save(self, form: ClassForm) -> HttpResponse:
        session = schedule_class(workspace=self.workspace, now=timezone.now(), by=self.by, **form.cleaned_data)
        return self.done(_("%(name)s was scheduled.") % {"name": session.service.name}, ONE, session.uuid)


class OneClass(DashboardView):
    """A page about one class of the workspace; malformed, unknown and foreign ids read alike."""

    nav = LIST
    form_page = ONE
    session: ClassSession

    def find(self, **ids: Any) -> None:
        found = with_id(ClassSession.objects.of(self.workspace).with_names(), ids["uuid"])
        if found is None:
            raise ClassNotFound
        found.workspace = self.workspace
        self.session = found


class ClassPage(OneClass):
    """Who takes part, and a search for whoever else shall."""

    def get(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        self.find(uuid=uuid)
        rows, pages = paged(request, self.session.participants.select_related("contact").order_by("id"))
        search = request.GET.get("search", "").strip()
        return self.page(
            "classes/class.html",
            session=self.session,
            is_scheduled=self.session.status == Status.SCHEDULED,
            rows=rows,
            pages=pages,
            zone=ZoneInfo(self.workspace.timezone),
            search=search,
            found=self._found(search),
        )

    def _found(self, search: str) -> list[Contact]:
        """Find a few contacts who have no seat yet."""
        if not search or not is_storable(search):
            return []
        rows = Contact.objects.of(self.workspace).filter(search_key__like=like_pattern(name_key(search)))
        return list(rows.exclude(class_seats__session=self.session).newest_first()[:MOST_FOUND])


class ClassCancel(OneClass, EntryQuestion):
    def heading(self) -> str:
        return _("Cancel %(name)s?") % {"name": self.session.service.name}

    def submit(self) -> str:
        return _("Cancel this class")

    def text(self) -> str:
        return _("It takes no more participants. Those who have a seat are not told by this.")

    def crumbs(self) -> list[Link]:
        own = reverse(ONE, args=[self.session.uuid])
        return [(_("Classes"), reverse(LIST)), (self.session.service.name, own)]

    def save(self, form: Any) -> HttpResponse:
        cancel_class(session=self.session, now=timezone.now(), by=self.by)
        return self.done(_("The class is cancelled."), ONE, self.session.uuid)


class ParticipantAdd(OneClass):
    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        self.find(uuid=uuid)
        contact = with_id(Contact.objects.of(self.workspace), parse_uuid(request.POST.get("contact", "")))
        if contact is None:
            raise ContactNotFound
        add_participant(session=self.session, contact=contact, now=timezone.now())
        return self.done(_("%(name)s takes part.") % {"name": contact}, ONE, self.session.uuid)


class ParticipantRemove(OneClass):
    def post(self, request: HttpRequest, uuid: UUID | None, contact: UUID | None) -> HttpResponse:
        self.find(uuid=uuid)
        found = with_id(Contact.objects.of(self.workspace), contact)
        if found is None:
            raise ParticipantNotFound
        remove_participant(session=self.session, contact=found, now=timezone.now())
        return self.done(_("%(name)s takes part no longer.") % {"name": found}, ONE, self.session.uuid)
