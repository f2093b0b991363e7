"""Panels about channels on a sub-account's page and in support's admin, with unread callbacks."""

from collections.abc import Iterator
from typing import Final

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.models import ActivityEntry, Agency
from agency.pages.registry import Alert
from agency.pages.search import SupportPanel, SupportRow
from channelconnect.models import ConnectSession, ConnectSettings, ProviderNotice
from channelconnect.models.inbox import MOST_TRIES
from channelconnect.models.sessions import Platform, SessionStatus
from channelconnect.services.settings import settings_of
from workspaces.subaccounts.models import CHANNEL_NAMES, Channel, Workspace
from workspaces.subaccounts.pages.registry import HubAction, HubContent, HubPanel, HubRow, WorkspaceConcernSource

MOST_NAMED: Final = 3
TONES: Final = {"active": "good", "error": "bad", "disconnected": ""}


def _start_url(workspace: Workspace) -> str:
    return reverse("console:channel-connect-start-for", args=[workspace.uuid])


def _fields(settings: ConnectSettings, platform: str, reconnect: str = "") -> dict[str, str]:
    return {"platform": platform, "return_url": settings.return_urls[0], "reconnect": reconnect, "state": ""}


def _may_connect(workspace: Workspace, settings: ConnectSettings) -> bool:
    return workspace.is_active and settings.enabled and bool(settings.return_urls)


def _connect_actions(workspace: Workspace, settings: ConnectSettings) -> list[HubAction]:
    """Return buttons that connect WhatsApp at once or another platform; or the button to set up the feature first."""
    if not workspace.is_active:
        return []
    if not _may_connect(workspace, settings):
        return [HubAction(label=_("Set up Channel connect"), url=reverse("console:channel-connect"))]
    url = _start_url(workspace)
    fields = _fields(settings, Platform.WHATSAPP)
    return [
        HubAction(label=_("Connect WhatsApp"), url=url, fields=fields),
        HubAction(label=_("Connect another channel"), url=url),
    ]


def _actions_of(channel: Channel, workspace: Workspace, settings: ConnectSettings) -> Iterator[HubAction]:
    if channel.status != Channel.Status.ACTIVE and channel.platform in Platform and _may_connect(workspace, settings):
        yield HubAction(
            label=_("Reconnect"),
            name=_("Reconnect %(name)s") % {"name": channel.name},
            url=_start_url(workspace),
            fields=_fields(settings, channel.platform, str(channel.uuid)),
        )
    if channel.status != Channel.Status.DISCONNECTED:
        yield HubAction(
            label=_("Disconnect"),
            name=_("Disconnect %(name)s") % {"name": channel.name},
            url=reverse("console:sub-account-channel-disconnect", args=[workspace.uuid, channel.uuid]),
        )


def _open_sessions(workspace: Workspace, most: int) -> Iterator[HubRow]:
    sessions = ConnectSession.objects.filter(workspace=workspace).open().in_time().order_by("-created_at", "-id")
    for session in sessions.defer("link", "grant")[:most]:
        yield HubRow(
            title=session.get_platform_display(),
            detail=_("Connection in progress"),
            at=session.created_at,
            status_label=session.get_status_display(),
            actions=[
                HubAction(
                    label=_("Cancel"),
                    name=_("Cancel the connection of %(name)s") % {"name": workspace.name},
                    url=reverse("console:channel-connect-cancel", args=[session.uuid]),
                    fields={},
                )
            ],
        )


def _rows(workspace: Workspace, settings: ConnectSettings, most: int) -> Iterator[HubRow]:
    """Yield open connections, then channels, connected ones first."""
    yield from _open_sessions(workspace, most)
    for channel in workspace.channels.order_by("status", "connected_at", "id")[:most]:
        yield HubRow(
            title=channel.name,
            detail=" · ".join(_details_of(channel)),
            status_label=channel.get_status_display(),
            tone=TONES[channel.status],
            actions=list(_actions_of(channel, workspace, settings)),
        )


def _details_of(channel: Channel) -> Iterator[str]:
    yield CHANNEL_NAMES[channel.platform]
    yield channel.handle
    if channel.is_on_business_app and channel.status == Channel.Status.ACTIVE:
        yield _("Also on the phone")


def channels(workspace: Workspace, most: int) -> HubContent:
    settings = settings_of(workspace.agency)
    return HubContent(
        rows=_rows(workspace, settings, most), empty=_("None connected."), actions=_connect_actions(workspace, settings)
    )


def broken_channels(workspace: Workspace) -> Iterator[Alert]:
    broken = workspace.channels.filter(status=Channel.Status.ERROR).order_by("id")
    for name in broken.values_list("name", flat=True)[:MOST_NAMED]:
        yield Alert(
            text=_("%(channel)s is disconnected. Connect it again to receive and send messages.") % {"channel": name},
            url="#channels",
            action=_("Channels"),
        )


HUB_PANELS: Final = (HubPanel(name="channels", label=gettext_lazy("Channels"), order=20, content=channels),)
CONCERNS: Final = (WorkspaceConcernSource(name="channels", order=20, concerns=broken_channels),)


def connect_switch(agency: Agency, most: int) -> Iterator[SupportRow]:
    """Yield whether the agency may connect channels, with the reason of the last change and the page to change it."""
    settings = ConnectSettings.objects.filter(agency=agency).first()
    changes = ActivityEntry.objects.filter(agency=agency, action__in=["connect.turned_on", "connect.turned_off"])
    last = changes.order_by("-id").first()
    state = "on" if settings and settings.enabled else "off"
    why = [last.details.get("reason", ""), f"{last.at:%Y-%m-%d %H:%M UTC}", last.actor_label] if last else []
    if settings:
        url = reverse("admin:channelconnect_connectsettings_change", args=[agency.pk])
    else:
        url = f"{reverse('admin:channelconnect_connectsettings_add')}?agency={agency.pk}"
    yield SupportRow(title="Channel connect", detail=" · ".join(filter(None, [state, *why])), url=url)


def connections(agency: Agency, most: int) -> Iterator[SupportRow]:
    """Yield the agency's newest sessions."""
    sessions = ConnectSession.objects.of(agency).select_related("workspace").order_by("-id")
    for session in sessions.defer("link", "grant")[:most]:
        parts = [
            str(session.get_status_display()),
            session.error_code or "",
            f"{session.created_at:%Y-%m-%d %H:%M UTC}",
        ]
        yield SupportRow(
            title=f"{session.get_platform_display()} for {session.workspace}",
            detail=" · ".join(filter(None, parts)),
            url=reverse("admin:channelconnect_connectsession_change", args=[session.pk]),
            is_problem=session.status == SessionStatus.FAILED,
        )


def parked_callbacks(agency: Agency, most: int) -> Iterator[SupportRow]:
    """Yield callbacks of the whole installation that could not be read. Their agency is unknown until they are read."""
    parked = ProviderNotice.objects.filter(read_at=None, tries__gt=0).defer("body").order_by("-tries", "due_at")
    for notice in parked[:most]:
        is_left = notice.tries >= MOST_TRIES
        yield SupportRow(
            title=f"Callback {notice.pk} of {notice.received_at:%Y-%m-%d %H:%M UTC}",
            detail=f"{notice.tries} tries{', given up' if is_left else ''} · {notice.fault}".rstrip(" ·"),
            url=reverse("admin:channelconnect_providernotice_change", args=[notice.pk]),
            is_problem=is_left,
        )


SUPPORT_PANELS: Final = (
    SupportPanel(
        name="connect-switch",
        label="May connect channels",
        order=22,
        permission="channelconnect.view_connectsettings",
        rows=connect_switch,
    ),
    SupportPanel(
        name="connections",
        label="Channel connections",
        order=70,
        permission="channelconnect.view_connectsession",
        rows=connections,
        url_name="admin:channelconnect_connectsession_changelist",
    ),
    SupportPanel(
        name="parked-callbacks",
        label="Unreadable callbacks of the whole installation",
        order=92,
        permission="channelconnect.view_providernotice",
        rows=parked_callbacks,
    ),
)
