"""A contact's appointments on the contact's page and beside the conversation."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

from django.utils import timezone

from workspaces.appointments.models import Appointment
from workspaces.contacts.models import Contact

MOST_COMING, MOST_PAST = 3, 2
# An appointment lasts at most a day, so an index finds those that go on now.
LONGEST: Final = timedelta(days=1)
OPEN: Final = (Appointment.Status.BOOKED, Appointment.Status.CONFIRMED)


def appointments_of_contact(contact: Contact) -> Mapping[str, Any]:
    """Give the contact's next appointments, and the last ones before them."""
    now = timezone.now()
    rows = Appointment.objects.of(contact.workspace).filter(contact=contact).select_related("service", "staff")
    coming = list(rows.filter(starts_at__gt=now - LONGEST, ends_at__gt=now, status__in=OPEN).by_start()[:MOST_COMING])
    past = rows.filter(starts_at__lte=now).exclude(pk__in=[one.pk for one in coming]).order_by("-starts_at", "-id")
    return {
        "contact": contact,
        "appointments": [*coming, *past[:MOST_PAST]],
        "zone": ZoneInfo(contact.workspace.timezone),
    }
