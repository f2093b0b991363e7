"""Today's classes on the dashboard's home page."""

from datetime import datetime
from typing import Final

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from workspaces.classes.models import ClassSession
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.pages.home import HomeContent, HomeRow, HomeSection, today_of


def _today(workspace: Workspace, now: datetime, most: int) -> HomeContent:
    first, last = today_of(workspace, now)
    held = ClassSession.objects.of(workspace).filter(status=ClassSession.Status.SCHEDULED, ends_at__gt=now)
    rows = []
    for one in held.filter(starts_at__gte=first, starts_at__lt=last).with_names().by_start()[:most]:
        seats = _("%(taken)s of %(seats)s seats taken") % {"taken": one.participants_count, "seats": one.capacity}
        url = reverse("app:class", args=[one.uuid])
        rows.append(HomeRow(title=one.service.name, detail=seats, at=one.starts_at, url=url))
    return HomeContent(rows=rows)


TODAY: Final = HomeSection(
    name="classes",
    label=gettext_lazy("Today's classes"),
    order=30,
    url_name="app:classes",
    content=_today,
    is_today=True,
)
