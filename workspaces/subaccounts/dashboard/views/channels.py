"""The channels of a workspace."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext as _

from agency.pages.lists import paged, with_id
from workspaces.subaccounts.dashboard.surface import DashboardView
from workspaces.subaccounts.models import CHANNEL_NAMES, Channel
from workspaces.subaccounts.services import ChannelNotFound, disconnect_channel

LIST = "app:channels"


class Channels(DashboardView):
    nav = LIST

    def get(self, request: HttpRequest) -> HttpResponse:
        rows, pages = paged(request, self.workspace.channels.order_by("connected_at", "id"))
        named = [(channel, CHANNEL_NAMES[channel.platform]) for channel in rows]
        return self.page("subaccounts/channels.html", rows=named, pages=pages)


class DisconnectChannel(DashboardView):
    """Asks first; malformed, unknown and foreign ids read alike."""

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
