"""The console's page Channel connect: connections with forms to start and cancel them, and the settings."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import segno
from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import path
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.console.base import ConsoleView, FormPage, breadcrumb
from agency.models import Agency
from agency.pages.pagination import keyset_page, with_id
from agency.pages.tables import Column, Filter, ListPage, Table
from channelconnect.models import ConnectSession
from channelconnect.models.sessions import ERROR_CODES, ConnectSessionQuerySet, Platform, SessionStatus
from channelconnect.services.sessions.creation import ConnectionNotFound, create_session
from channelconnect.services.sessions.ending import cancel_session, connect_url, status_at
from channelconnect.services.settings import (
    LONGEST_URL,
    MOST_RETURN_URLS,
    ReturnUrlRefused,
    allow_business_app,
    let_customers_connect,
    set_return_urls,
    settings_of,
)
from config.api.requests import is_storable
from config.db import database_now
from workspaces.subaccounts.models import Channel, Workspace
from workspaces.subaccounts.services import WorkspaceNotFound
from workspaces.subaccounts.services.listing import sub_account_rows

SESSIONS: Final = Table(
    caption=gettext_lazy("Connections, newest first"),
    columns=(
        Column(name="sub_account", label=gettext_lazy("Sub-account")),
        Column(name="platform", label=gettext_lazy("Platform")),
        Column(name="state", label=gettext_lazy("State")),
        Column(name="until", label=gettext_lazy("Open until")),
        Column(name="started", label=gettext_lazy("Started")),
        Column(name="actions", label=gettext_lazy("Actions"), is_unseen=True),
    ),
    filters=(
        Filter(name="search", label=gettext_lazy("Sub-account"), placeholder=gettext_lazy("Name, owner, e-mail or ID")),
        Filter(name="platform", label=gettext_lazy("Platform"), is_choice=True, choices=Platform.choices),
        Filter(name="status", label=gettext_lazy("State"), is_choice=True, choices=SessionStatus.choices),
    ),
)


def narrowed(agency: Agency, asked: Mapping[str, str], *, now: datetime) -> ConnectSessionQuerySet:
    """Keep an agency's sessions that match all filters. An unknown platform or state is ignored."""
    rows = ConnectSession.objects.of(agency)
    if asked["platform"] in Platform.values:
        rows = rows.filter(platform=asked["platform"])
    if asked["status"] in SessionStatus.values:
        rows = rows.with_status(asked["status"], at=now)
    if search := asked["search"]:
        found = Workspace.objects.of(agency)
        rows = rows.filter(workspace__in=found.matching(search) if is_storable(search) else found.none())
    return rows


LONGEST_STATE = 500
NUL = "\0"


class ReturnUrlsForm(forms.Form):
    """What customers may do, and return URLs: one on each line, empty lines are ignored."""

    customers_connect = forms.BooleanField(
        label=gettext_lazy("Customers may connect channels themselves"),
        required=False,
        help_text=gettext_lazy(
            "Their dashboard then has a button for it on the page Channels, once Channel connect is on."
        ),
    )

    allows_business_app = forms.BooleanField(
        label=gettext_lazy("WhatsApp numbers may stay in the WhatsApp Business app"),
        required=False,
        help_text=gettext_lazy(
            "People who connect a number can then choose to keep using the app on the phone. WhatsApp sends at most "
            "20 messages a second for such a number."
        ),
    )

    return_urls = forms.CharField(
        label=gettext_lazy("Return URLs, one per line"),
        required=False,
        max_length=MOST_RETURN_URLS * (LONGEST_URL + 2),
        widget=forms.Textarea(attrs={"rows": 8, "spellcheck": "false", "autocapitalize": "none"}),
        help_text=gettext_lazy(
            "Up to 20 https URLs without query string, fragment or credentials. A connection returns to one of them, "
            "which must match exactly. If you remove a URL, connections in progress no longer return to it."
        ),
    )

    def clean_return_urls(self) -> list[str]:
        lines = [line.strip() for line in self.cleaned_data["return_urls"].splitlines()]
        urls = [line for line in lines if line]
        if len(urls) > MOST_RETURN_URLS:
            raise ValidationError(gettext_lazy("Enter at most 20 return URLs."))
        return urls


class StartForm(forms.Form):
    """A new connection for a sub-account."""

    platform = forms.ChoiceField(label=gettext_lazy("Platform"), choices=Platform.choices, widget=forms.RadioSelect)
    return_url = forms.ChoiceField(label=gettext_lazy("Return URL"))
    reconnect = forms.ModelChoiceField(
        label=gettext_lazy("Reconnect"),
        queryset=Channel.objects.none(),
        required=False,
        to_field_name="uuid",
        empty_label=gettext_lazy("No, connect a new channel"),
        help_text=gettext_lazy("The channel keeps its ID. Your customer must choose the same account again."),
    )
    state = forms.CharField(
        label=gettext_lazy("State"),
        required=False,
        max_length=LONGEST_STATE,
        strip=False,
        help_text=gettext_lazy(
            "We add it unchanged to the return URL, so that your systems know whose connection it is."
        ),
    )

    def __init__(self, *args: Any, return_urls: Iterable[str], channels: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        addresses, reconnect = self.fields["return_url"], self.fields["reconnect"]
        assert isinstance(addresses, forms.ChoiceField)  # noqa: S101  # tells the type checker what is declared above
        assert isinstance(reconnect, forms.ModelChoiceField)  # noqa: S101  # the same
        addresses.choices = [(url, url) for url in return_urls]
        reconnect.queryset = channels


NAV = "console:channel-connect"
TITLE = gettext_lazy("Channel connect")


class ReturnUrls(FormPage[ReturnUrlsForm]):
    """Says what customers may do when they connect channels, and replaces the whole list of return URLs."""

    nav = NAV

    def make_form(self, data: Mapping[str, object] | None = None) -> ReturnUrlsForm:
        held = settings_of(self.agency)
        initial = {
            "return_urls": "\n".join(held.return_urls),
            "customers_connect": held.customers_connect,
            "allows_business_app": held.allows_business_app,
        }
        return ReturnUrlsForm(data, initial=initial)

    def save(self, form: ReturnUrlsForm) -> HttpResponse:
        urls = form.cleaned_data["return_urls"]
        try:
            with transaction.atomic():
                set_return_urls(agency=self.agency, return_urls=urls, by=self.by)
                let_customers_connect(agency=self.agency, allowed=form.cleaned_data["customers_connect"], by=self.by)
                allow_business_app(agency=self.agency, allowed=form.cleaned_data["allows_business_app"], by=self.by)
        except ReturnUrlRefused as refusal:
            said = {"url": urls[refusal.position], "message": _(refusal.message)}
            message = _("%(url)s cannot be used: %(message)s") % said
            form.add_error("return_urls", message)
            return self.show(form, status=422)
        return self.done(_("The settings were saved."), NAV)

    def context(self) -> dict[str, object]:
        return {"crumbs": [breadcrumb(TITLE, NAV)], "heading": _("Settings"), "submit": _("Save")}


START = "console:channel-connect-start"
MOST_HITS = 20
USED = gettext_lazy(
    "You have already sent this form. Its link was shown only once. Cancel that connection and start another."
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


def _status_columns(session: ConnectSession, at: tuple[str, str | None]) -> tuple[str, object, str]:
    """Return a session's status, the status's label, and the meaning of its error."""
    status, code = at
    return status, SessionStatus(status).label, ERROR_CODES.get(code or "", "")


class Cancel(ConsoleView):
    nav = NAV

    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        found = with_id(ConnectSession.objects.of(self.agency).select_related("workspace", "channel"), uuid)
        if found is None:
            raise ConnectionNotFound
        ended = cancel_session(session=found, now=database_now(), by=self.by)
        if ended.status == SessionStatus.CANCELLED:
            return self.done(_("The connection was cancelled."), NAV)
        messages.info(request, _("The connection had already ended. Nothing was changed."))
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

    def find(self, **ids: UUID | None) -> None:
        found = with_id(Workspace.objects.of(self.agency), ids["uuid"])
        if found is None:
            raise WorkspaceNotFound
        self.workspace = found

    def make_form(self, data: Mapping[str, object] | None = None) -> StartForm:
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

    def context(self) -> dict[str, object]:
        settings = settings_of(self.agency)
        return {
            "crumbs": [breadcrumb(TITLE, NAV), breadcrumb(_("Start a connection"), START)],
            "heading": _("Connect a channel for %(name)s") % {"name": self.workspace.name},
            "text": _("You get a secret link for your customer's browser. It works for 30 minutes."),
            "warning": ""
            if settings.return_urls
            else _("Register a return URL first. Your customer's browser returns to it when the connection ends."),
            "submit": _("Create link"),
        }


AT = "configuration/channel-connect"

urlpatterns = [
    path(AT, Overview.as_view(), name="channel-connect"),
    path(f"{AT}/return-urls", ReturnUrls.as_view(), name="channel-connect-return-urls"),
    path(f"{AT}/start", ChooseSubAccount.as_view(), name="channel-connect-start"),
    path(f"{AT}/start/<id:uuid>", Start.as_view(), name="channel-connect-start-for"),
    path(f"{AT}/connections/<id:uuid>/cancel", Cancel.as_view(), name="channel-connect-cancel"),
]
