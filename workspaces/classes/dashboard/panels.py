"""Classes on other pages: those about a contact, its timeline, and the home page."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from django.db.models import Exists, OuterRef, QuerySet
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.models import ActivityEntry
from agency.pages.activity import action_label
from config.formats import format_day_time
from workspaces.classes.models import ClassSession, Participant, WaitingListEntry
from workspaces.contacts.models import Contact
from workspaces.contacts.pages import TimelineEntry
from workspaces.subaccounts.dashboard.home import ActivityNames
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.pages.home import HomeContent, HomeRow, HomeSection, today_of

CLASS_PAGE: Final = "app:class"
Status = ClassSession.Status

# On pages about a contact ---------------------------------------------------------------------------------------

MOST_COMING: Final = 3
MOST_PAST: Final = 2


def classes_with(contact: Contact) -> "QuerySet[Participant, Mapping[str, object]]":
    """Return the keys of the classes in which the contact has a seat or waits for one."""
    seats = Participant.objects.filter(contact=contact).values("session")
    return seats.union(WaitingListEntry.objects.filter(contact=contact).values("session"), all=True)


def classes_of_contact(contact: Contact) -> Mapping[str, object]:
    """Give the contact's next classes, seats and waiting lists, and the last classes before them."""
    now = timezone.now()
    seats = Participant.objects.filter(contact=contact).values("session")
    waits = WaitingListEntry.objects.filter(contact=contact)
    rows = ClassSession.objects.of(contact.workspace).with_names()
    coming = rows.filter(pk__in=classes_with(contact), ends_at__gt=now)
    is_waiting = Exists(waits.filter(session=OuterRef("pk")))
    coming = coming.exclude(status=Status.CANCELLED).annotate(is_waiting=is_waiting)
    found = list(coming.by_start()[: MOST_COMING + 1])
    past = rows.filter(pk__in=seats, ends_at__lte=now).order_by("-starts_at", "-id")
    over = list(past[: MOST_PAST + 1])
    return {
        "contact": contact,
        "classes": [*found[:MOST_COMING], *over[:MOST_PAST]],
        "has_more": len(found) > MOST_COMING or len(over) > MOST_PAST,
        "zone": ZoneInfo(contact.workspace.timezone),
    }


TIMELINE_ACTIONS: Final = ("class.seat_removed", "class.waiting_list_left")


def classes_of_timeline(contact: Contact, before: datetime, most: int) -> list[TimelineEntry]:
    """Give the newest seats and places on waiting lists that a contact got or lost, for the contact's timeline."""
    zone = ZoneInfo(contact.workspace.timezone)
    entries = _lost_of_timeline(contact, before, most, zone)
    for model, title in ((Participant, _("Seat in a class: %(name)s")), (WaitingListEntry, _("Waits for: %(name)s"))):
        rows = model.objects.filter(contact=contact, created_at__lt=before).select_related("session__service")
        for row in rows.order_by("-created_at", "-id")[:most]:
            session = row.session
            entries.append(
                TimelineEntry(
                    at=row.created_at,
                    icon="calendar",
                    title=title % {"name": session.service.name},
                    text=format_day_time(session.starts_at.astimezone(zone), "yMMMEd"),
                    state="" if session.status == Status.SCHEDULED else session.get_status_display(),
                    url=reverse(CLASS_PAGE, args=[session.uuid]),
                )
            )
    return entries


def _lost_of_timeline(contact: Contact, before: datetime, most: int, zone: ZoneInfo) -> list[TimelineEntry]:
    """Give the seats and places that were given back or removed: the activity log alone knows them."""
    workspace = contact.workspace
    rows = ActivityEntry.objects.filter(workspace_uuid=workspace.uuid, target_id=str(contact.uuid), at__lt=before)
    names = ActivityNames(workspace)
    return [
        TimelineEntry(
            at=entry.at,
            icon="calendar",
            title=f"{action_label(entry.action)}: {entry.target_name}",
            text=format_day_time(datetime.fromisoformat(entry.details["starts_at"]).astimezone(zone), "yMMMEd"),
            state=names.of_actor(entry),
            url=reverse(CLASS_PAGE, args=[entry.details["class"]]),
        )
        for entry in rows.filter(action__in=TIMELINE_ACTIONS).select_related("agency").order_by("-id")[:most]
    ]


# Today's classes on the home page ------------------------------------------------------------------


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
