"""The dashboard's list of broadcasts, the page of one with its progress and actions, and two set-up steps."""

from collections.abc import Callable, Iterator, Mapping
from typing import ClassVar
from uuid import UUID

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.pages.branding import in_page_language
from agency.pages.forms import ConfirmationForm
from agency.pages.pagination import read_pages, with_id
from agency.pages.registry import StrOrPromise
from agency.pages.tables import TableState
from broadcasts.models import Broadcast
from broadcasts.pages.labels import STATUS_LABELS
from broadcasts.pages.message_preview import broadcast_context
from broadcasts.pages.panels import OF_WORKSPACE, with_bar_segments
from broadcasts.services.editing import copy_broadcast, delete_broadcast
from broadcasts.services.errors import BroadcastNotFound
from broadcasts.services.listing import has_sent, joined, received_by
from broadcasts.services.moving import cancel_broadcast, pause_broadcast, resume_broadcast
from config.db import database_now
from config.errors import DomainError
from workspaces.contacts.dashboard.finding import ListByContact
from workspaces.contacts.models import Contact
from workspaces.contacts.services.counting import has_contacts
from workspaces.subaccounts.dashboard.base import DashboardForm, DashboardView
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.pages.registry import SetUpStep


def message_steps(workspace: Workspace) -> Iterator[SetUpStep]:
    """Yield two steps: have contacts (who may also arrive by writing first), and send something to a contact."""
    yield SetUpStep(
        title=_("Bring your contacts"),
        text=_("Import a file, or wait until somebody writes to you."),
        url=reverse("app:contact-import-new"),
        action=_("Import contacts"),
        is_done=has_contacts(workspace),
    )
    yield SetUpStep(
        title=_("Send a first message"),
        text=_("Write to somebody, or send a broadcast to many."),
        url=reverse("app:conversation-new"),
        action=_("Write"),
        is_done=has_sent(workspace),
    )


LIST = "app:broadcasts"
ONE = "app:broadcast"


class Broadcasts(ListByContact):
    """All broadcasts, newest first. Users search by a part of the name and filter by status and by contact."""

    nav = LIST
    table = OF_WORKSPACE

    def get(self, request: HttpRequest) -> HttpResponse:
        state, rows = self.read_table(), joined(Broadcast.objects.of(self.workspace))
        search, status = state.values["search"].replace("\0", ""), state.values["status"]
        found = rows.filter(name__icontains=search) if search else rows
        found = found.filter(status=status) if status in STATUS_LABELS else found
        if self.contact is None:
            state.fetch(found)
        else:
            self._fetch_received(state, found, self.contact)
        return self.list_page("broadcasts/broadcasts.html", state, **with_bar_segments(state, state.rows))

    def _fetch_received(self, state: TableState, rows: "QuerySet[Broadcast]", contact: Contact) -> None:
        """Fetch a page of the broadcasts that the contact was sent. If older ones were not searched, a `+` says so."""
        received = received_by(contact)
        rows = rows.filter(pk__in=received.broadcasts)
        total = rows.count()
        pages = read_pages(self.request, total, received.is_capped)
        state.show(list(rows.order_by(*state.order)[pages.offset : pages.offset + pages.size]), pages)


class BroadcastDetail(DashboardView):
    """A page about one of the workspace's broadcasts. Malformed, unknown and foreign ids get the same answer."""

    nav = LIST
    form_page = ONE
    broadcast: Broadcast

    def find(self, **ids: UUID | None) -> None:
        found = with_id(joined(Broadcast.objects.of(self.workspace)), ids["uuid"])
        if found is None:
            raise BroadcastNotFound
        found.workspace = self.workspace
        self.broadcast = found


class BroadcastPage(BroadcastDetail):
    """A broadcast's progress. The browser reloads it while the broadcast moves."""

    def get(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        self.find(uuid=uuid)
        return self.page("broadcasts/broadcast.html", **broadcast_context(self.broadcast))


class BroadcastMove(BroadcastDetail):
    """A button that makes one move. A refusal is shown on the broadcast's page."""

    move: ClassVar[Callable[..., Broadcast]]
    success_message: ClassVar[StrOrPromise]

    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        self.find(uuid=uuid)
        try:
            type(self).move(broadcast=self.broadcast, now=database_now(), by=self.by)
        except DomainError as error:
            messages.error(request, in_page_language(error.message))
            return redirect(ONE, self.broadcast.uuid)
        return self.done(str(self.success_message), ONE, self.broadcast.uuid)


class BroadcastPause(BroadcastMove):
    move = staticmethod(pause_broadcast)
    success_message = gettext_lazy("The broadcast is paused. Messages that are being sent now still go out.")


class BroadcastResume(BroadcastMove):
    move = staticmethod(resume_broadcast)
    success_message = gettext_lazy("The broadcast goes on.")


class BroadcastDuplicate(BroadcastDetail):
    """Creates a draft with the same message and audience."""

    creates = True

    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        self.find(uuid=uuid)
        try:
            made = copy_broadcast(broadcast=self.broadcast, now=timezone.now(), by=self.by)
        except DomainError as error:
            messages.error(request, in_page_language(error.message))
            return redirect(ONE, self.broadcast.uuid)
        return self.done(
            _("This is the copy. Look through it before you schedule it."), "app:broadcast-edit", made.uuid
        )


class BroadcastCancel(BroadcastDetail, DashboardForm[ConfirmationForm]):
    """Cancels a broadcast, after a confirmation: its unsent messages are never sent."""

    template_name = "broadcasts/cancel.html"

    def make_form(self, data: Mapping[str, object] | None = None) -> ConfirmationForm:
        return ConfirmationForm(data)

    def save(self, form: ConfirmationForm) -> HttpResponse:
        cancel_broadcast(broadcast=self.broadcast, now=database_now(), by=self.by)
        return self.done(_("The broadcast is cancelled."), ONE, self.broadcast.uuid)

    def context(self) -> dict[str, object]:
        return {"broadcast": self.broadcast}


class BroadcastDelete(BroadcastDetail, DashboardForm[ConfirmationForm]):
    """Deletes a draft, after a confirmation."""

    template_name = "broadcasts/delete.html"

    def make_form(self, data: Mapping[str, object] | None = None) -> ConfirmationForm:
        return ConfirmationForm(data)

    def save(self, form: ConfirmationForm) -> HttpResponse:
        delete_broadcast(broadcast=self.broadcast, now=timezone.now(), by=self.by)
        return self.done(_("%(name)s was deleted.") % {"name": self.broadcast.name}, LIST)

    def context(self) -> dict[str, object]:
        return {"broadcast": self.broadcast}
