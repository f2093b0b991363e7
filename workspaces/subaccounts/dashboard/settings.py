"""The configuration pages of a workspace: its settings, its channels and its API keys."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar
from uuid import UUID

from django import forms
from django.forms.boundfield import BoundField
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.models.agencies import KeyQuerySet
from agency.pages.api_keys import (
    KEY_SHOWN_ALREADY,
    KEY_TABLE,
    KeyLimitsForm,
    RollForm,
    live_keys_first,
    revocation_message,
    revocation_page_context,
    roll_page_context,
)
from agency.pages.forms import ConfirmationForm, EmailField, LineField, MultilineField
from agency.pages.pagination import with_id
from agency.pages.tables import Column, Filter, ListPage, Table
from agency.services.hosts import base_url_of
from workspaces.subaccounts.dashboard.base import OWNER_ROLES, DashboardForm, DashboardView
from workspaces.subaccounts.dashboard.hours import DAY_LABELS, HoursField, HoursForm, show_rows
from workspaces.subaccounts.models import CHANNEL_NAMES, Channel, Workspace, WorkspaceKey
from workspaces.subaccounts.models.workspaces import DAYS
from workspaces.subaccounts.pages.connecting import agency_email, connect_page_for, notes_of_channels
from workspaces.subaccounts.services import (
    ChannelNotFound,
    KeyNotFound,
    WorkspaceChanges,
    change_workspace,
    disconnect_channel,
    issue_workspace_key,
    revoke_workspace_key,
    roll_workspace_key,
)
from workspaces.subaccounts.services.keys import MOST_KEYS
from workspaces.subaccounts.services.money import CURRENCIES
from workspaces.subaccounts.services.notifications import channel_requested_at, request_channel, was_requested_today

LONGEST_TEXT = 500
LONGEST_NAME = 120
HOURS_PREFIX = "opening_hours_"
OTHER_FIELDS = ("address", "phone", "email", "website", "booking_link", "review_link", "menu_link", "currency")


def link_field(label: Any, **options: Any) -> forms.URLField:
    return forms.URLField(label=label, required=False, max_length=LONGEST_TEXT, assume_scheme="https", **options)


class SettingsForm(forms.Form):
    """Opening hours of each day, and other facts about the business that automations may use."""

    address = MultilineField(
        label=gettext_lazy("Address"), required=False, max_length=LONGEST_TEXT, widget=forms.Textarea(attrs={"rows": 2})
    )
    phone = LineField(
        label=gettext_lazy("Phone number"), required=False, max_length=40, widget=forms.TextInput({"type": "tel"})
    )
    email = EmailField(required=False)
    website = link_field(gettext_lazy("Website"))
    booking_link = link_field(
        gettext_lazy("Booking link"), help_text=gettext_lazy("Where customers book by themselves.")
    )
    review_link = link_field(gettext_lazy("Review link"), help_text=gettext_lazy("Where customers write a review."))
    menu_link = link_field(gettext_lazy("Link to the menu"))
    currency = forms.ChoiceField(label=gettext_lazy("Currency"), choices=[(code, code) for code in CURRENCIES])

    def __init__(self, *args: Any, workspace: Workspace, **options: Any) -> None:
        held: dict[str, object] = {name: getattr(workspace, name) for name in OTHER_FIELDS}
        hours = {f"{HOURS_PREFIX}{day}": intervals for day, intervals in workspace.weekly_hours.items()}
        options["initial"] = {**held, **hours}
        super().__init__(*args, **options)
        for day in DAYS:
            self.fields[f"{HOURS_PREFIX}{day}"] = HoursField(label=DAY_LABELS[day], required=False)
        show_rows(self, (f"{HOURS_PREFIX}{day}" for day in DAYS))

    def day_fields(self) -> Iterator[BoundField]:
        return (self[f"{HOURS_PREFIX}{day}"] for day in DAYS)

    def other_fields(self) -> Iterator[BoundField]:
        return (self[name] for name in OTHER_FIELDS)

    def changes(self) -> WorkspaceChanges:
        """Give the values that `change_workspace` takes."""
        given = self.cleaned_data
        return {
            "opening_hours": {day: given[f"{HOURS_PREFIX}{day}"] for day in DAYS},
            "address": given["address"],
            "phone": given["phone"],
            "email": given["email"],
            "website": given["website"],
            "booking_link": given["booking_link"],
            "review_link": given["review_link"],
            "menu_link": given["menu_link"],
            "currency": given["currency"],
        }


class KeyForm(KeyLimitsForm):
    """A new API key."""

    name = LineField(
        label=gettext_lazy("Name"),
        max_length=LONGEST_NAME,
        help_text=gettext_lazy("The system that uses this key, for example “CRM sync” or “Zapier”."),
    )
    field_order = ["name", "expires_at", "allowed_networks"]


class TwoFactorForm(forms.Form):
    required = forms.BooleanField(
        label=gettext_lazy("Two-factor is required"),
        required=False,
        help_text=gettext_lazy("The owner and the members have to set up an authenticator app. API keys keep working."),
    )


SETTINGS = "app:settings"


class Settings(HoursForm[SettingsForm]):
    nav = SETTINGS
    hours_prefix = HOURS_PREFIX
    template_name = "subaccounts/settings.html"

    def make_form(self, data: Mapping[str, object] | None = None) -> SettingsForm:
        return SettingsForm(data, workspace=self.workspace)

    def save(self, form: SettingsForm) -> HttpResponse:
        change_workspace(workspace=self.workspace, by=self.by, **form.changes())
        return self.done(_("The settings were saved."), SETTINGS)


class TwoFactorRequirement(DashboardForm[TwoFactorForm]):
    """The owner decides whether the owner and the members need two-factor."""

    nav = SETTINGS
    writers = OWNER_ROLES
    writers_only = True
    template_name = "pages/dashboard/form.html"

    def make_form(self, data: Mapping[str, object] | None = None) -> TwoFactorForm:
        return TwoFactorForm(data, initial={"required": self.workspace.two_factor_required})

    def save(self, form: TwoFactorForm) -> HttpResponse:
        is_required = form.cleaned_data["required"]
        change_workspace(workspace=self.workspace, by=self.by, two_factor_required=is_required)
        message = _("Two-factor is required now.") if is_required else _("Two-factor is no longer required.")
        return self.done(message, SETTINGS)

    def context(self) -> dict[str, object]:
        return {"crumbs": [(_("Business details"), reverse(SETTINGS))], "heading": _("Two-factor"), "submit": _("Save")}


CHANNELS = "app:channels"


class Channels(ListPage, DashboardView):
    """Lists all channels, oldest connection first. Disconnected ones stay on the list."""

    nav = CHANNELS
    table = Table(
        caption=gettext_lazy("Channels"),
        columns=(
            Column(name="name", label=gettext_lazy("Channel"), order=("name", "id")),
            Column(name="type", label=gettext_lazy("Type"), order=("platform", "id")),
            Column(name="state", label=gettext_lazy("State"), order=("status", "id")),
            Column(name="connected", label=gettext_lazy("Connected"), order=("connected_at", "id")),
            Column(name="actions", label=gettext_lazy("Actions"), is_unseen=True),
        ),
        filters=(
            Filter(
                name="type",
                label=gettext_lazy("Type"),
                is_choice=True,
                choices=[(kind, capfirst(name)) for kind, name in CHANNEL_NAMES.items()],
            ),
            Filter(name="state", label=gettext_lazy("State"), is_choice=True, choices=Channel.Status.choices),
        ),
        sort="connected",
    )

    def get(self, request: HttpRequest) -> HttpResponse:
        state, rows = self.read_table(), self.workspace.channels.all()
        kind, status = state.values["type"], state.values["state"]
        rows = rows.filter(platform=kind) if kind in CHANNEL_NAMES else rows
        state.fetch(rows.filter(status=status) if status in Channel.Status.values else rows)
        page = connect_page_for(self.workspace)
        reconnected = page.platforms if page else frozenset()
        notes = notes_of_channels(state.rows)
        state.rows = [
            (
                channel,
                CHANNEL_NAMES[channel.platform],
                channel.status != Channel.Status.ACTIVE and channel.platform in reconnected,
                notes.get(channel.pk, ()),
            )
            for channel in state.rows
        ]
        connect_url = reverse(page.url_name) if page else ""
        asking = {} if page else self._asking()
        return self.list_page("subaccounts/channels.html", state, connect_url=connect_url, **asking)

    def _asking(self) -> dict[str, object]:
        """Return how people ask the agency for a channel, and when they last did."""
        now = timezone.now()
        asked_at = channel_requested_at(self.workspace, now=now)
        return {
            "agency_email": agency_email(self.workspace),
            "asked_at": asked_at,
            "may_ask": self.may_write and not was_requested_today(asked_at, now=now),
        }


class ChannelRequest(DashboardView):
    """Asks the agency's staff to connect a channel."""

    form_page = CHANNELS
    nav = CHANNELS

    def post(self, request: HttpRequest) -> HttpResponse:
        request_channel(workspace=self.workspace, now=timezone.now(), by=self.by)
        return self.done(_("%(agency)s was asked.") % {"agency": self.current.agency.name}, CHANNELS)


class DisconnectChannel(DashboardView):
    """Disconnects a channel after a question. Malformed, unknown and foreign ids get the same answer."""

    nav = CHANNELS

    def get(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        channel = self.find(uuid)
        if channel.status == Channel.Status.DISCONNECTED:
            return redirect(CHANNELS)
        return self.page(
            "subaccounts/disconnect_channel.html", channel=channel, platform=CHANNEL_NAMES[channel.platform]
        )

    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        channel = disconnect_channel(channel=self.find(uuid), now=timezone.now(), by=self.by)
        return self.done(_("%(name)s is disconnected.") % {"name": channel.name}, CHANNELS)

    def find(self, uuid: UUID | None) -> Channel:
        found: Channel | None = with_id(self.workspace.channels.all(), uuid)
        if found is None:
            raise ChannelNotFound
        return found


KEYS = "app:api-keys"
FORM = "pages/dashboard/form.html"
REST_API = gettext_lazy("REST API")


class KeyPage(DashboardView):
    """A page about the workspace's keys. Only the owner manages them, because keys outlive the people who made them."""

    nav = KEYS
    writers = OWNER_ROLES

    @property
    def keys(self) -> KeyQuerySet:
        return WorkspaceKey.objects.filter(workspace=self.workspace)

    def live_key(self, uuid: UUID | None) -> WorkspaceKey:
        """Give the live key that an address names. Raises `KeyNotFound`."""
        found: WorkspaceKey | None = with_id(self.keys.live(), uuid)
        if found is None:
            raise KeyNotFound
        return found

    def page(self, template: str, *, status: int = 200, **context: object) -> HttpResponse:
        """Give every page about keys the API's base URL."""
        base_url = f"{base_url_of(self.workspace.agency_id)}/api/v1"
        return super().page(template, status=status, base_url=base_url, most_keys=MOST_KEYS, **context)


class KeyList(ListPage, KeyPage):
    """Lists all keys, live ones first."""

    table = KEY_TABLE

    def get(self, request: HttpRequest) -> HttpResponse:
        return self.list_page("subaccounts/api_keys.html", self.read_table().fetch(live_keys_first(self.keys)))


class KeyNew(KeyPage, DashboardForm[KeyForm]):
    """Creates a key and shows it in the response itself, because no page can show it again."""

    template_name: ClassVar[str] = FORM
    creates = True
    writers_only = True
    sent_already = KEY_SHOWN_ALREADY

    def make_form(self, data: Mapping[str, object] | None = None) -> KeyForm:
        return KeyForm(data)

    def save(self, form: KeyForm) -> HttpResponse:
        name = form.cleaned_data["name"]
        key, plaintext = issue_workspace_key(workspace=self.workspace, name=name, by=self.by, **form.limits())
        return self.page("subaccounts/api_key_created.html", key=key, plaintext=plaintext)

    def context(self) -> dict[str, object]:
        return {"crumbs": [(REST_API, reverse(KEYS))], "heading": _("New API key"), "submit": _("Create key")}


class KeyRoll(KeyPage, DashboardForm[RollForm]):
    """Replaces a key and shows the new one in the response itself."""

    template_name: ClassVar[str] = FORM
    creates = True
    writers_only = True
    sent_already = KEY_SHOWN_ALREADY
    key: WorkspaceKey

    def find(self, **ids: UUID | None) -> None:
        self.key = self.live_key(ids["uuid"])

    def make_form(self, data: Mapping[str, object] | None = None) -> RollForm:
        return RollForm(data)

    def save(self, form: RollForm) -> HttpResponse:
        now = timezone.now()
        until = form.old_valid_until(now)
        rolled = roll_workspace_key(workspace=self.workspace, key=self.key, old_valid_until=until, now=now, by=self.by)
        return self.page(
            "subaccounts/api_key_created.html",
            key=rolled.key,
            plaintext=rolled.plaintext,
            rolled=True,
            old_valid_until=until and rolled.old_valid_until,
        )

    def context(self) -> dict[str, object]:
        return {**roll_page_context(name=self.key.name, prefix=self.key.prefix), "crumbs": [(REST_API, reverse(KEYS))]}


class KeyRevoke(KeyPage, DashboardForm[ConfirmationForm]):
    template_name: ClassVar[str] = FORM
    writers_only = True
    key: WorkspaceKey

    def find(self, **ids: UUID | None) -> None:
        self.key = self.live_key(ids["uuid"])

    def make_form(self, data: Mapping[str, object] | None = None) -> ConfirmationForm:
        return ConfirmationForm(data)

    def save(self, form: ConfirmationForm) -> HttpResponse:
        revoke_workspace_key(key=self.key, now=timezone.now(), by=self.by)
        return self.done(revocation_message(self.key.name), KEYS)

    def context(self) -> dict[str, object]:
        is_last = not self.keys.live().exclude(pk=self.key.pk).exists()
        warning = _("This is your last live key. Without it, nothing can call the API for your workspace.")
        form = revocation_page_context(name=self.key.name, prefix=self.key.prefix, warning=warning if is_last else "")
        return {**form, "crumbs": [(REST_API, reverse(KEYS))]}
