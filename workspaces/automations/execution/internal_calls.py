"""What runs ask of the product's own appointments and invoices.

The result comes as `CallEnded`; its `code` says why there is none. Appointments, services and products are named by
their uuids, and moments are written in ISO form.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias


@dataclass(frozen=True, slots=True)
class FindTimes:
    """Look for free times of a service, or for an appointment that moves. Without both, services are offered.

    `staff` is a staff member, or "" for all. The search begins at the moment `after`, and "" is now. With `is_day`
    more times of the first day are offered. `timezone` is the contact's clock.

    The result is `{"services": [[uuid, name, description], …]}`, or `{"service": uuid, "times": [moment, …], "next":
    moment from which later times are found, or ""}`.
    """

    service: str = ""
    staff: str = ""
    appointment: str = ""
    after: str = ""
    is_day: bool = False
    timezone: str = "UTC"


@dataclass(frozen=True, slots=True)
class BookTime:
    """Book a time for the contact. The result is `{"appointment": {…}}` with the values for texts."""

    service: str
    starts_at: str
    staff: str = ""
    timezone: str = "UTC"


@dataclass(frozen=True, slots=True)
class FindAppointments:
    """Look for the contact's appointments that may still be changed, or for this one.

    The result is `{"appointments": [[uuid, moment, service], …]}`.
    """

    appointment: str = ""


@dataclass(frozen=True, slots=True)
class ChangeAppointment:
    """Confirm, cancel or reschedule an appointment of the contact. The result is that of `BookTime`."""

    appointment: str
    change: str
    starts_at: str = ""
    staff: str = ""


@dataclass(frozen=True, slots=True)
class RequestPayment:
    """Issue an invoice about an appointment, its deposit, or an amount of money, such as the price of a product.

    The result is `{"invoice": uuid, "payment": {"amount": …, "link": …}}`.
    """

    pays: str
    amount: str = ""
    product: str = ""
    appointment: str = ""


InternalCall: TypeAlias = FindTimes | BookTime | FindAppointments | ChangeAppointment | RequestPayment

# The names under which calls are stored.
INTERNAL_CALLS: Final[Mapping[str, type[InternalCall]]] = {
    "find_times": FindTimes,
    "book_time": BookTime,
    "find_appointments": FindAppointments,
    "change_appointment": ChangeAppointment,
    "request_payment": RequestPayment,
}
# Codes of refusals on which steps go on in their own way. The time is not free, or not free any more; nothing is owed.
TIME_TAKEN: Final = "time_taken"
NOTHING_DUE: Final = "nothing_due"
