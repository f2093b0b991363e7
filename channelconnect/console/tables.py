"""The table of connections, newest first by an index; it is never counted."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from django.utils.translation import gettext_lazy as _

from agency.models import Agency
from agency.pages.tables import Column, Filter, Table
from channelconnect.models import ConnectSession
from channelconnect.models.sessions import ConnectSessionQuerySet, Platform, Status
from config.api.requests import is_storable
from workspaces.subaccounts.models import Workspace

SESSIONS: Final = Table(
    caption=_("Connections, the newest first"),
    columns=(
        Column(name="sub_account", label=_("Sub-account")),
        Column(name="platform", label=_("Platform")),
        Column(name="state", label=_("State")),
        Column(name="until", label=_("Open until")),
        Column(name="started", label=_("Started")),
        Column(name="actions", label=_("Actions"), is_unseen=True),
    ),
    filters=(
        Filter(name="search", label=_("Sub-account"), placeholder=_("Name, owner, e-mail or ID")),
        Filter(name="platform", label=_("Platform"), is_choice=True, choices=Platform.choices),
        Filter(name="status", label=_("State"), is_choice=True, choices=Status.choices),
    ),
)


def narrowed(agency: Agency, asked: Mapping[str, str], *, now: datetime) -> ConnectSessionQuerySet:
    """Keep an agency's sessions that match all filters. An unknown platform or state is ignored."""
    rows = ConnectSession.objects.of(agency)
    if asked["platform"] in Platform.values:
        rows = rows.filter(platform=asked["platform"])
    if asked["status"] in Status.values:
        rows = rows.with_status(asked["status"], at=now)
    if search := asked["search"]:
        found = Workspace.objects.of(agency)
        rows = rows.filter(workspace__in=found.matching(search) if is_storable(search) else found.none())
    return rows
