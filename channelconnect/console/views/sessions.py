"""Configuration → Channel connect: the feature's state and the connections, and pages to start and cancel them."""

from typing import Any
from uuid import UUID

import segno
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.console.base import ConsoleView, FormPage, breadcrumb
from agency.pages.pagination import keyset_page, with_id
from agency.pages.tables import ListPage
from channelconnect.codes import ERROR_CODES
from channelconnect.console.forms import StartForm
from channelconnect.console.tables import SESSIONS, narrowed
from channelconnect.console.views.settings import NAV, TITLE
from channelconnect.models import ConnectSession
from channelconnect.models.sessions import Platform, Status
from channelconnect.services import (
    ConnectionNotFound,
    cancel_session,
    connect_url,
    create_session,
    settings_of,
    status_at,
)
from config.db import database_now
from workspaces.subaccounts.models import Channel, Workspace
from workspaces.subaccounts.services import WorkspaceNotFound
from workspaces.subaccounts.services.listing import sub_account_rows

START = "console:channel-connect-start"
MOST_HITS = 20
USED = gettext_lazy(
    "This form was used already: its link is shown only once. Cancel that connection and start another."
)


class Overview(ListPage, ConsoleView):
    """Shows whether the feature is on and who switches it, the return URLs, and the connections, newest first."""

    nav = NAV
    table = SESSIONS

    def get(self, request: HttpRequest) -> HttpResponse:
        now, state = database_now(), self.read_table()
        found = narrowed(self.agency, state.values, now=now)
        state.show_keyset(keyset_page(request, found.select_related("workspace", "channel")))
        state.rows = [(session, *_status_columns(session, status_at(session, now))) for session in state.rows]
        return self.list_page("channelconnect/sessions.html", state, settings=settings_of(self.agency), now=now)


def _status_columns(session: ConnectSession, at: tuple[str, str | None]) -> tuple[str, Any, str]:
    """Return a session's status, the status's label, and the meaning of its error."""
    status, code = at
    return status, Status(status).label, ERROR_CODES.get(code or "", "")


class Cancel(ConsoleView):
    nav = NAV

    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        found = with_id(ConnectSession.objects.of(self.agency).select_related("workspace", "channel"), uuid)
        if found is None:
            raise ConnectionNotFound
        ended = cancel_session(session=found, now=database_now(), by=self.by)
        if ended.status == Status.CANCELLED:
            return self.done(_("The connection was cancelled."), NAV)
        messages.info(request, _("The connection had ended before: nothing was changed."))
        return redirect(NAV)


COLUMNS = ("uuid", "name", "owner_name", "owner_email")


class ChooseSubAccount(ConsoleView):
    """Asks for which sub-account to connect; users search by its name."""

    nav = NAV

    def get(self, request: HttpRequest) -> HttpResponse:
        search = request.GET.get("search", "").strip()
        found = Workspace.objects.of(self.agency).filter(status=Workspace.Status.ACTIVE)
        if search:
            found = found.none() if "\0" in search else found.matching(search)
        total = found.count()
        rows = sub_account_rows(
            self.agency, found, columns=COLUMNS, offset=0, limit=MOST_HITS, total=total, is_search=bool(search)
        )
        crumbs = [breadcrumb(TITLE, NAV)]
        return self.page("channelconnect/start.html", rows=rows, total=total, search=search, crumbs=crumbs)


class Start(FormPage[StartForm]):
    """Starts a connection. The answer itself shows the secret link, because no page can show it a second time."""

    nav = NAV
    creates = True
    sent_already = USED
    workspace: Workspace

    def find(self, **ids: Any) -> None:
        found = with_id(Workspace.objects.of(self.agency), ids["uuid"])
        if found is None:
            raise WorkspaceNotFound
        self.workspace = found

    def make_form(self, data: Any = None) -> StartForm:
        return StartForm(
            data,
            return_urls=settings_of(self.agency).return_urls,
            channels=self.workspace.channels.filter(platform__in=Platform.values).order_by("platform", "id"),
            initial={"platform": Platform.WHATSAPP},
        )

    def save(self, form: StartForm) -> HttpResponse:
        given = form.cleaned_data
        channel: Channel | None = given["reconnect"]
        now = database_now()
        session = create_session(
            agency=self.agency,
            workspace=self.workspace,
            platform=given["platform"],
            return_url=given["return_url"],
            state=given["state"] or None,
            reconnect=channel.uuid if channel else None,
            now=now,
            by=self.by,
        )
        link = connect_url(session, now=now)
        picture = segno.make_qr(link, error="m").svg_data_uri(scale=5, dark="#000", light="#fff") if link else ""
        return self.page("channelconnect/link.html", session=session, link=link, picture=picture)

    def context(self) -> dict[str, Any]:
        settings = settings_of(self.agency)
        return {
            "crumbs": [breadcrumb(TITLE, NAV), breadcrumb(_("Start a connection"), START)],
            "heading": _("Connect a channel for %(name)s") % {"name": self.workspace.name},
            "text": _("You get a secret link for your customer's browser. It works for 30 minutes."),
            "warning": ""
            if settings.return_urls
            else _("Register a return URL first: browsers must come back somewhere."),
            "submit": _("Create the link"),
        }
