"""The channels of a workspace."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.pages.pagination import with_id
from agency.pages.tables import Column, Filter, ListPage, Table
from workspaces.subaccounts.dashboard.surface import DashboardView
from workspaces.subaccounts.models import CHANNEL_NAMES, Channel
from workspaces.subaccounts.services import ChannelNotFound, disconnect_channel

LIST = "app:channels"


class Channels(ListPage, DashboardView):
    """Lists all channels, oldest connection first. Disconnected ones stay on the list."""

    nav = LIST
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
        state.rows = [(channel, CHANNEL_NAMES[channel.platform]) for channel in state.rows]
        return self.list_page("subaccounts/channels.html", state)


class DisconnectChannel(DashboardView):
    """Disconnects a channel after a question. Malformed, unknown and foreign ids get the same answer."""

    nav = LIST

    def get(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        channel = self.find(uuid)
        if channel.status == Channel.Status.DISCONNECTED:
            return redirect(LIST)
        return self.page(
            "subaccounts/disconnect_channel.html", channel=channel, platform=CHANNEL_NAMES[channel.platform]
        )

    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        channel = disconnect_channel(channel=self.find(uuid), now=timezone.now(), by=self.by)
        return self.done(_("%(name)s is disconnected.") % {"name": channel.name}, LIST)

    def find(self, uuid: UUID | None) -> Channel:
        found: Channel | None = with_id(self.workspace.channels.all(), uuid)
        if found is None:
            raise ChannelNotFound
        return found
