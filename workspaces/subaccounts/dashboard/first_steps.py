"""Channels on a workspace's home page: the first set-up step, and a warning about broken channels."""

from collections.abc import Iterator

from django.urls import reverse
from django.utils.translation import gettext as _

from agency.pages.registry import Alert
from workspaces.subaccounts.models import Channel, Workspace
from workspaces.subaccounts.pages.home import SetUpStep

MOST_NAMED = 3


def channel_step(workspace: Workspace) -> Iterator[SetUpStep]:
    """Put the channel first, because every other step needs one."""
    yield SetUpStep(
        title=_("Connect a channel"),
        text=_("WhatsApp, Instagram, Messenger … %(agency)s connects it for you.") % {"agency": workspace.agency.name},
        url=reverse("app:channels"),
        action=_("Channels"),
        is_done=workspace.channels.filter(status=Channel.Status.ACTIVE).exists(),
    )


def broken_channels(workspace: Workspace) -> Iterator[Alert]:
    """Name a few channels whose connection the provider has closed."""
    broken = workspace.channels.filter(status=Channel.Status.ERROR).order_by("id")
    for name in broken.values_list("name", flat=True)[:MOST_NAMED]:
        yield Alert(
            text=_("%(channel)s is broken: nothing comes in or goes out until it is connected again.")
            % {"channel": name},
            url=reverse("app:channels"),
            action=_("Channels"),
        )
