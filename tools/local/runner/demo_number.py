"""Connects the demo workspace's number at the sandbox provider, as a person's consent would do.

The sandbox signs tokens with a secret that is new at every start, so each start makes the access token anew.
"""

from django.conf import settings
from django.utils.timezone import now

from channelconnect.models import ChannelCredential
from channelconnect.providers.templates import read_template
from channelconnect.services.templates import keep_templates
from config.operations.bootstrap import demo_account
from config.operations.bootstrap_accounts import BOOTSTRAP
from tools.sandbox.config import DEVELOPMENT
from tools.sandbox.control.people import PEOPLE
from tools.sandbox.control.templates import Templates
from tools.sandbox.graph.scopes import OF_CONFIGURATION
from tools.sandbox.graph.tokens import Token, write
from workspaces.subaccounts.models import Channel, Workspace
from workspaces.subaccounts.services import reconnect_channel

DEMO = PEOPLE["demo"]
[BUSINESS] = DEMO.businesses
[NUMBER] = BUSINESS.numbers
MESSAGING_LIMIT = 2_000  # `NUMBER.limit` as a number


def connect_demo_number(workspace: Workspace) -> None:
    """Connect the demo number to the workspace, with its templates. With a real provider this does nothing.

    A number that was disconnected, or that another workspace has connected, stays as it is.
    """
    if DEVELOPMENT["META_APP_ID"] != settings.META_APP_ID:
        return
    accounts = (NUMBER.id, demo_account(workspace.agency))
    connected = Channel.objects.filter(external_id__in=accounts).exclude(status=Channel.Status.DISCONNECTED)
    channels = list(connected.order_by("-external_id"))
    if len(channels) != 1 or channels[0].workspace_id != workspace.pk:
        return
    [channel] = channels
    _stand_for_the_number(channel)
    _give_access(channel)
    listed = [one for one in map(read_template, Templates().of(BUSINESS.id)) if one]
    keep_templates(container_id=BUSINESS.id, listed=listed, is_first=True, now=now())


def _stand_for_the_number(channel: Channel) -> None:
    if channel.external_id == NUMBER.id and channel.status == Channel.Status.ACTIVE:
        return
    Channel.objects.filter(pk=channel.pk).update(external_id=NUMBER.id)
    reconnect_channel(
        channel=channel,
        name=NUMBER.name,
        handle=NUMBER.shown,
        messaging_limit=MESSAGING_LIMIT,
        quality=NUMBER.quality,
        now=now(),
        by=BOOTSTRAP,
    )


def _give_access(channel: Channel) -> None:
    granted = (*OF_CONFIGURATION["whatsapp"], "public_profile")
    token = Token(person=DEMO.key, kind="SYSTEM_USER", granted=granted, chosen=(BUSINESS.id,))
    ChannelCredential.objects.update_or_create(
        channel=channel,
        defaults={
            "token": write(token, settings.META_APP_SECRET),
            "container_id": BUSINESS.id,
            "portfolio_id": DEMO.portfolio_id,
            "throughput": NUMBER.throughput,
            "access_check_due_at": None,
        },
    )
