"""Panels about channels on a sub-account's page and in support's admin, with unread callbacks."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from agency.models import ActivityEntry, Agency
from agency.pages.registry import Alert
from agency.pages.search import SupportPanel, SupportRow
from agency.templatetags.pages import number, percent
from channelconnect.models import BusinessAppSync, ConnectSession, ConnectSettings, ProviderNotice
from channelconnect.models.inbox import MOST_TRIES
from channelconnect.models.sessions import Platform, SessionStatus
from channelconnect.services.accounts import OFFBOARDED
from channelconnect.services.business_app import LONGEST_CALL, NO_ANSWER, TOO_LATE
from channelconnect.services.settings import settings_of
from config.db import database_now
from workspaces.subaccounts.models import CHANNEL_NAMES, Channel, Workspace
from workspaces.subaccounts.pages.connecting import ChannelNote, ChannelNoteSource
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


# Numbers in the WhatsApp Business app --------------------------------------------------------------


COMPLETE: Final = 100
# After this time nobody needs to read what has come.
SHOWN_FOR: Final = timedelta(days=7)
LOSSES: Final[dict[str, Promise]] = {
    OFFBOARDED: gettext_lazy(
        "The WhatsApp Business app has moved to another phone. The number usually comes back within minutes. If it "
        "does not, connect it again."
    ),
    "PARTNER_REMOVED": gettext_lazy(
        "The number was disconnected in the WhatsApp Business app, under Settings, Account, Business Platform. Connect "
        "it again to go on."
    ),
}
FAULTS: Final[dict[str, Promise]] = {
    NO_ANSWER: gettext_lazy("Meta did not answer."),
    TOO_LATE: gettext_lazy("The 24 hours that Meta allows for it were over."),
}
FAILED: Final[dict[tuple[str, ...], Promise]] = {
    ("contacts", "history"): gettext_lazy("Contacts and conversations could not be brought over."),
    ("contacts",): gettext_lazy("Contacts could not be brought over."),
    ("history",): gettext_lazy("Conversations could not be brought over."),
}
REFUSED: Final = gettext_lazy("Meta refused it.")
AGAIN: Final = gettext_lazy("To try again, disconnect the number in the app and here, then connect it again.")


def notes_of(channels: Sequence[Channel]) -> Mapping[int, list[ChannelNote]]:
    """Give the notes about the numbers in the list that stay in the app, with at most two statements."""
    on_app = {channel.pk: channel for channel in channels if channel.is_on_business_app}
    if not on_app:
        return {}
    now = database_now()
    syncs = BusinessAppSync.objects.in_bulk(on_app)
    return {key: list(_notes(channel, syncs.get(key), now)) for key, channel in on_app.items()}


def _notes(channel: Channel, sync: BusinessAppSync | None, now: datetime) -> Iterator[ChannelNote]:
    if channel.status == Channel.Status.ERROR and channel.lost_reason in LOSSES:
        yield ChannelNote(text=str(LOSSES[channel.lost_reason]), is_bad=True)
    if channel.status != Channel.Status.ACTIVE:
        return
    yield ChannelNote(text=_("Also on the phone"))
    if sync is None or now > sync.begun_at + SHOWN_FOR:
        return
    faults = _faults(sync, now)
    come = {"contacts": _contacts(sync), "history": _history(sync)}
    if shown := [text for name, text in come.items() if name not in faults]:
        yield ChannelNote(text=" · ".join(shown))
    if faults:
        why = FAULTS.get([*faults.values()][-1], REFUSED)
        yield ChannelNote(text=f"{FAILED[(*faults,)]} {why} {AGAIN}", is_bad=True)


def _contacts(sync: BusinessAppSync) -> str:
    return ngettext("%(number)s contact", "%(number)s contacts", sync.contacts) % {"number": number(sync.contacts)}


def _history(sync: BusinessAppSync) -> str:
    if sync.is_history_declined:
        return _("The owner chose not to share the history")
    if sync.history_progress == COMPLETE:
        return _("Conversations brought over")
    if sync.history_progress is None:
        return _("Conversations not yet here")
    return _("Conversations %(percent)s") % {"percent": percent(sync.history_progress)}


def _faults(sync: BusinessAppSync, now: datetime) -> dict[str, str]:
    """Give the faults of what could not be brought over, by its name. What has come needs no answer to its request."""
    contacts = sync.contacts_fault or _silence(sync, "contacts", now)
    history = sync.history_fault or _silence(sync, "history", now)
    if sync.contacts:
        contacts = ""
    if history == NO_ANSWER and (sync.is_history_declined or sync.history_progress is not None):
        history = ""
    return {name: fault for name, fault in (("contacts", contacts), ("history", history)) if fault}


def _silence(sync: BusinessAppSync, name: str, now: datetime) -> str:
    """Give the fault of a request whose answer was never recorded, because its process died."""
    asked_at: datetime | None = getattr(sync, f"{name}_asked_at")
    is_answered = bool(getattr(sync, f"{name}_request_id"))
    return NO_ANSWER if asked_at and not is_answered and now > asked_at + LONGEST_CALL else ""


CHANNEL_NOTES: Final = ChannelNoteSource(name="channelconnect.business_app", notes=notes_of)
