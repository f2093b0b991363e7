"""Today's appointments on the dashboard's home page."""

from datetime import datetime
from typing import Final

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from workspaces.appointments.models import Appointment
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.pages.home import HomeContent, HomeRow, HomeSection, today_of

OPEN: Final = (Appointment.Status.BOOKED, Appointment.Status.CONFIRMED)


def _today(workspace: Workspace, now: datetime, most: int) -> HomeContent:
    first, last = today_of(workspace, now)
    held = Appointment.objects.of(workspace).filter(status__in=OPEN, ends_at__gt=now)
    rows = [
        HomeRow(
            title=str(one.contact) if one.contact else _("Contact removed"),
            detail=f"{one.service.name} · {one.staff.name}",
            at=one.starts_at,
            url=reverse("app:appointment", args=[one.uuid]),
        )
        for one in held.filter(starts_at__gte=first, starts_at__lt=last).with_names().by_start()[:most]
    ]
    return HomeContent(rows=rows)


TODAY: Final = HomeSection(
    name="appointments",
    label=gettext_lazy("Today's appointments"),
    order=20,
    url_name="app:calendar",
    content=_today,
    is_today=True,
)
