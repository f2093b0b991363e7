"""Sample results of calls to appointments and invoices, for chats in which a flow is tried."""

from collections.abc import Callable, Mapping
from datetime import datetime, time, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

from django.utils.translation import gettext as _

from config.wall_clock import instant_of, known_zone
from workspaces.automations.execution.answer_dates import moment_in_words
from workspaces.automations.execution.internal_calls import (
    BookTime,
    ChangeAppointment,
    FindAppointments,
    FindTimes,
    InternalCall,
    RequestPayment,
)
from workspaces.automations.execution.types import CallEnded, RunContext

SERVICE: Final = "00000000-0000-4000-8000-000000000001"
OTHER_SERVICE: Final = "00000000-0000-4000-8000-000000000002"
SAMPLE_APPOINTMENT: Final = "00000000-0000-4000-8000-000000000003"
INVOICE: Final = "00000000-0000-4000-8000-000000000004"
CLOCKS: Final = (time(10), time(14, 30))
DAYS: Final = 3
LINK: Final = "https://example.com/"


def sample_result(call: InternalCall, context: RunContext) -> CallEnded:
    """Give what a workspace with free times and a payment account would answer."""
    return CallEnded(ok=True, result=SAMPLES[type(call)](call, context))


def sample_values(trigger: str, context: RunContext) -> dict[str, dict[str, str]]:
    """Give the values of the fact that starts a flow with this trigger, such as an appointment tomorrow."""
    if trigger.startswith("appointment_"):
        return {"appointment": _appointment(_times(context, context.timezone)[0], context)}
    return {"payment": _payment(context)} if trigger == "payment_received" else {}


def _times(context: RunContext, zone: str, after: datetime | None = None) -> list[datetime]:
    known = known_zone(zone, None)
    first = (after or context.now).astimezone(ZoneInfo(known)).date() + timedelta(days=0 if after else 1)
    days = [first + timedelta(days=number) for number in range(DAYS)]
    return [instant_of(datetime.combine(day, clock), known) for day in days for clock in CLOCKS]


def _find_times(call: FindTimes, context: RunContext) -> dict[str, object]:
    if not call.service and not call.appointment:
        services = ((SERVICE, _("A service")), (OTHER_SERVICE, _("Another service")))
        return {"services": [[uuid, name, ""] for uuid, name in services]}
    after = datetime.fromisoformat(call.after) if call.after else None
    times = _times(context, call.timezone, after)
    return {
        "service": call.service or SERVICE,
        "times": [moment.isoformat() for moment in times],
        "next": (times[-1] + timedelta(hours=12)).isoformat(),
    }


def _book(call: BookTime, context: RunContext) -> dict[str, object]:
    return {"appointment": _appointment(datetime.fromisoformat(call.starts_at), context)}


def _find_appointments(call: FindAppointments, context: RunContext) -> dict[str, object]:
    moment = _times(context, context.timezone)[0]
    return {"appointments": [[call.appointment or SAMPLE_APPOINTMENT, moment.isoformat(), _("A service")]]}


def _change(call: ChangeAppointment, context: RunContext) -> dict[str, object]:
    moment = datetime.fromisoformat(call.starts_at) if call.starts_at else _times(context, context.timezone)[0]
    return {"appointment": _appointment(moment, context)}


def _request_payment(call: RequestPayment, context: RunContext) -> dict[str, object]:
    return {"invoice": INVOICE, "payment": _payment(context, call.amount)}


def _payment(context: RunContext, amount: str = "") -> dict[str, str]:
    return {"amount": f"{amount or 50} {context.currency}".strip(), "link": LINK}


def _appointment(moment: datetime, context: RunContext) -> dict[str, str]:
    local = moment.astimezone(ZoneInfo(known_zone(context.contact.timezone, context.timezone)))
    written = moment_in_words(local, languages=context.languages, country=context.contact.country or context.country)
    return {
        "id": SAMPLE_APPOINTMENT,
        "starts_at": moment.isoformat(),
        "date": written.date,
        "time": written.time,
        "service": _("A service"),
        "staff": _("Alex Example"),
        "location": context.settings.get("address", ""),
        "link": LINK,
    }


SAMPLES: Final[Mapping[type, Callable[[Any, RunContext], dict[str, object]]]] = {
    FindTimes: _find_times,
    BookTime: _book,
    FindAppointments: _find_appointments,
    ChangeAppointment: _change,
    RequestPayment: _request_payment,
}
