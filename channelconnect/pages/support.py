"""Support's panels: an agency's connections, and callbacks that could not be read."""

from collections.abc import Iterator
from typing import Final

from django.urls import reverse

from agency.models import Agency
from agency.pages.search import SupportPanel, SupportRow
from channelconnect.models import ConnectSession, ConnectSettings, ProviderNotice
from channelconnect.models.inbox import MOST_TRIES
from channelconnect.models.sessions import Status


def connections(agency: Agency, most: int) -> Iterator[SupportRow]:
    """Yield whether the agency may connect channels, and its newest sessions."""
    settings = ConnectSettings.objects.filter(agency=agency).first()
    is_on = settings is not None and settings.enabled
    url = reverse("admin:channelconnect_connectsettings_change", args=[agency.pk]) if settings else ""
    yield SupportRow(title="Channel connect", detail="on" if is_on else "off", url=url)
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
            is_problem=session.status == Status.FAILED,
        )


def parked_callbacks(agency: Agency, most: int) -> Iterator[SupportRow]:
    """Yield callbacks of the whole installation that could not be read. Their agency is unknown until they are read."""
    parked = ProviderNotice.objects.filter(read_at=None, tries__gt=0).defer("body").order_by("-tries", "due_at")
    for notice in parked[:most]:
        is_left = notice.tries >= MOST_TRIES
        yield SupportRow(
            title=f"Callback {notice.pk} of {notice.received_at:%Y-%m-%d %H:%M UTC}",
            detail=f"{notice.tries} tries{', left alone' if is_left else ''} · {notice.fault}".rstrip(" ·"),
            url=reverse("admin:channelconnect_providernotice_change", args=[notice.pk]),
            is_problem=is_left,
        )


PANELS: Final = (
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
        label="Callbacks that could not be read, of the installation",
        order=92,
        permission="channelconnect.view_providernotice",
        rows=parked_callbacks,
    ),
)
