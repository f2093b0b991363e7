"""The dashboard's page on which customers connect their channels themselves, where their agency lets them."""

from collections.abc import Mapping
from typing import Final
from uuid import UUID

from django import forms
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.pages.pagination import with_id
from channelconnect.models.sessions import Platform
from channelconnect.services.sessions.creation import ConnectionNotFound, start_own_session
from channelconnect.services.settings import customers_may_connect
from config.api.requests import parse_uuid
from config.db import database_now
from workspaces.subaccounts.dashboard.base import DashboardForm
from workspaces.subaccounts.models import Channel, Workspace
from workspaces.subaccounts.pages.connecting import ConnectPage
from workspaces.subaccounts.services import ChannelNotFound

CHANNELS: Final = "app:channels"
CONNECT: Final = "app:channel-connect"


class ConnectForm(forms.Form):
    """Which platform to connect; a channel that is connected again has its platform already."""

    platform = forms.ChoiceField(label=gettext_lazy("Platform"), choices=Platform.choices, widget=forms.RadioSelect)

    def __init__(self, data: Mapping[str, object] | None = None, *, channel: Channel | None) -> None:
        super().__init__(data, initial={"platform": Platform.WHATSAPP})
        if channel:
            del self.fields["platform"]


class ConnectChannel(DashboardForm[ConnectForm]):
    """Starts a connection and leads to its page. With `?channel=` in the address a channel is connected again."""

    nav = CHANNELS
    template_name = "pages/dashboard/form.html"
    channel: Channel | None = None

    def find(self, **ids: UUID | None) -> None:
        if not customers_may_connect(self.workspace.agency):
            raise ConnectionNotFound
        if asked := self.request.GET.get("channel"):
            own = self.workspace.channels.filter(platform__in=Platform.values)
            self.channel = with_id(own, parse_uuid(asked))
            if self.channel is None:
                raise ChannelNotFound

    def make_form(self, data: Mapping[str, object] | None = None) -> ConnectForm:
        return ConnectForm(data, channel=self.channel)

    def save(self, form: ConnectForm) -> HttpResponse:
        session = start_own_session(
            workspace=self.workspace,
            platform=self.channel.platform if self.channel else form.cleaned_data["platform"],
            reconnect=self.channel.uuid if self.channel else None,
            now=database_now(),
            by=self.by,
        )
        return redirect("connect:landing", session.link)

    def context(self) -> dict[str, object]:
        heading = _("Connect a channel")
        if self.channel:
            heading = _("Reconnect %(name)s") % {"name": self.channel.name}
        return {
            "crumbs": [(_("Channels"), reverse(CHANNELS))],
            "heading": heading,
            "text": _("You sign in to Meta, choose your number, Page or account, and come back here."),
            "submit": _("Continue"),
        }


def _is_open_to(workspace: Workspace) -> bool:
    return customers_may_connect(workspace.agency)


CONNECT_PAGE: Final = ConnectPage(
    name="channelconnect", url_name=CONNECT, platforms=frozenset(Platform.values), is_open_to=_is_open_to
)

urlpatterns = [path("channels/connect", ConnectChannel.as_view(), name="channel-connect")]
