"""A sub-account's channels."""

from typing import Any

from django.http import HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _

from agency.console.base import FormPage
from agency.pages.forms import ConfirmationForm
from agency.pages.pagination import with_id
from workspaces.subaccounts.console.views.sub_account import PAGE, OneSubAccount
from workspaces.subaccounts.models import Channel
from workspaces.subaccounts.services import ChannelNotFound, disconnect_channel


class ChannelDisconnect(OneSubAccount, FormPage[ConfirmationForm]):
    channel: Channel

    def find(self, **ids: Any) -> None:
        super().find(**ids)
        found = with_id(self.workspace.channels.all(), ids["channel"])
        if found is None:
            raise ChannelNotFound
        self.channel = found

    def make_form(self, data: Any = None) -> ConfirmationForm:
        return ConfirmationForm(data)

    def save(self, form: ConfirmationForm) -> HttpResponse:
        disconnect_channel(channel=self.channel, now=timezone.now(), by=self.by)
        message = _("%(channel)s of %(name)s is disconnected.") % self.names()
        return self.done(message, PAGE, self.workspace.uuid)

    def names(self) -> dict[str, str]:
        return {"channel": self.channel.name, "name": self.workspace.name}

    def context(self) -> dict[str, Any]:
        return {
            "crumbs": self.crumbs(),
            "heading": _("Disconnect %(channel)s from %(name)s?") % self.names(),
            "text": _(
                "Messages no longer come in or go out through it. Automations that have no other channel of its type "
                "wait. Its account can be connected elsewhere. A connection that reconnects it brings it back."
            ),
            "submit": _("Disconnect"),
            "danger": True,
        }
