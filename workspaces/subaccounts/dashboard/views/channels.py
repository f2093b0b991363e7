"""The channels of a workspace."""

from django.http import HttpRequest, HttpResponse

from agency.pages.lists import paged
from workspaces.subaccounts.dashboard.surface import DashboardView
from workspaces.subaccounts.models import CHANNEL_NAMES


class Channels(DashboardView):
    nav = "app:channels"

    def get(self, request: HttpRequest) -> HttpResponse:
        rows, pages = paged(request, self.workspace.channels.order_by("connected_at", "id"))
        named = [(channel, CHANNEL_NAMES[channel.platform]) for channel in rows]
        return self.page("subaccounts/channels.html", rows=named, pages=pages)
