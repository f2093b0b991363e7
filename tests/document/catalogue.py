"""How the statuses of the catalogue's and the classes' operations are brought about."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from django.utils.timezone import now

from tests.document.calls import Call, Provocation
from tests.factories import ClassSessionFactory, ProductFactory, ServiceCategoryFactory, StaffFactory
from tests.factories.appointments import AppointmentFactory, tomorrow
from workspaces.classes.models import ClassSeries, ClassSession
from workspaces.classes.services import add_participant
from workspaces.classes.services.series import MOST_SERIES
from workspaces.contacts.models import Contact

BASE = "api/v1/"


def an_unknown_category(call: Call) -> int:
    return call.send({**call.body, "category_id": str(uuid4())})


def two_names_with_one_key(call: Call) -> int:
    return [call.send({**call.body, "name": name}, idempotency_key="named") for name in ("One", "Two")][1]


def an_unknown_service(call: Call) -> int:
    return call.send({**call.body, "service": str(uuid4())})


def a_category_in_use(call: Call) -> int:
    category = ServiceCategoryFactory.create(workspace=call.tenant.workspace)
    ProductFactory.create(workspace=call.tenant.workspace, category=category)
    return call.send(path=f"/{BASE}service-categories/{category.uuid}")


def a_service_with_classes(call: Call) -> int:
    body: Any = None if call.method == "DELETE" else {"kind": "appointment"}
    return call.send(body, path=f"/{BASE}services/{call.ids['class_service']}")


def staff_with_classes(call: Call) -> int:
    workspace = call.tenant.workspace
    staff = StaffFactory.create(workspace=workspace)
    ClassSessionFactory.create(workspace=workspace, staff=staff)
    return call.send(path=f"/{BASE}staff/{staff.uuid}")


def a_malformed_time(call: Call) -> int:
    return call.send(path=f"/{call.route}?starts_after=tomorrow")


def no_range(call: Call) -> int:
    return call.send(path=f"/{call.route}?service={uuid4()}")


def a_completed_class(call: Call) -> int:
    ClassSession.objects.filter(uuid=call.ids["session"]).update(status="completed")
    return call.send() if call.method == "DELETE" else a_new_participant(call)


def a_class_that_is_over(call: Call) -> int:
    over = ClassSessionFactory.create(workspace=call.tenant.workspace)
    ClassSession.objects.filter(pk=over.pk).update(status="completed")
    return call.send(path=f"/{BASE}classes/{over.uuid}/cancel")


def a_new_participant(call: Call) -> int:
    return call.send({"contact": str(_a_contact(call))})


def a_seat_that_is_taken(call: Call) -> int:
    """The contact's own, before anything frees it."""
    session = ClassSession.objects.get(uuid=call.ids["session"])
    contact = Contact.objects.get(uuid=call.ids["contact"])
    add_participant(session=session, contact=contact, now=session.created_at)
    return a_completed_class(call)


def the_same_time_again(call: Call) -> int:
    call.send()
    return call.send()


def a_cancelled_appointment(call: Call) -> int:
    call.api.post(f"/appointments/{call.ids['appointment']}/cancel", {})
    return call.send()


def before_the_start(call: Call) -> int:
    """The appointment is still to come, unless the case's body has moved it."""
    return call.send(path=call.path.replace(str(call.ids["appointment"]), str(_an_appointment(call))))


def one_time_off_too_many(call: Call) -> int:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("workspaces.appointments.services.hours.MOST_TIMES_OFF", 1)
        return call.send()


def times_with_one_key(call: Call) -> int:
    bodies = ({**call.body, "starts_at": tomorrow(hour).isoformat()} for hour in (17, 19))
    return [call.send(body, idempotency_key="timed") for body in bodies][1]


def reasons_with_one_key(call: Call) -> int:
    return [call.send({**call.body, "reason": reason}, idempotency_key="off") for reason in ("One", "Two")][1]


def _an_appointment(call: Call) -> Any:
    return AppointmentFactory.create(workspace=call.tenant.workspace).uuid


def _a_contact(call: Call) -> Any:
    return Contact.objects.create(workspace=call.tenant.workspace, name="New", search_key="new").uuid


def a_busy_host(call: Call) -> int:
    workspace = call.tenant.workspace
    staff = StaffFactory.create(workspace=workspace)
    taken = ClassSessionFactory.create(workspace=workspace, staff=staff)
    return call.send({**call.body, "staff": str(staff.uuid), "starts_at": taken.starts_at.isoformat()})


def unknown_staff(call: Call) -> int:
    return call.send({**call.body, "staff": str(uuid4())})


def an_ended_series(call: Call) -> int:
    ClassSeries.objects.filter(uuid=call.ids["series"]).update(ended_at=now(), due_at=None)
    return call.send(call.body) if call.method == "PATCH" else call.send()


def a_free_class(call: Call) -> int:
    ClassSession.objects.filter(uuid=call.ids["session"]).update(capacity=9)
    return call.send()


def somebody_who_waits_already(call: Call) -> int:
    call.send()
    return call.send()


def too_many_series(call: Call) -> int:
    series = ClassSeries.objects.get(uuid=call.ids["series"])
    fields = {name: getattr(series, name) for name in ("workspace", "service", "first_date", "start_time", "timezone")}
    rows = {**fields, "unit": "days", "duration_minutes": 60, "capacity": 5, "due_at": now()}
    ClassSeries.objects.bulk_create(ClassSeries(**rows) for _ in range(MOST_SERIES))
    return call.send()


OF_THEIR_OWN: dict[str, tuple[Provocation, ...]] = {
    f"POST {BASE}products": (an_unknown_category,),
    f"POST {BASE}services": (an_unknown_category, two_names_with_one_key),
    f"POST {BASE}service-categories": (two_names_with_one_key,),
    f"POST {BASE}staff": (two_names_with_one_key,),
    f"PATCH {BASE}services/<id:service>": (a_service_with_classes,),
    f"DELETE {BASE}services/<id:service>": (a_service_with_classes,),
    f"DELETE {BASE}service-categories/<id:category>": (a_category_in_use,),
    f"DELETE {BASE}staff/<id:staff>": (staff_with_classes,),
    f"GET {BASE}appointments": (a_malformed_time,),
    f"POST {BASE}appointments": (an_unknown_service, the_same_time_again, times_with_one_key),
    f"POST {BASE}appointments/<id:appointment>/confirm": (a_cancelled_appointment,),
    f"POST {BASE}appointments/<id:appointment>/reschedule": (a_cancelled_appointment,),
    f"POST {BASE}appointments/<id:appointment>/cancel": (a_cancelled_appointment,),
    f"POST {BASE}appointments/<id:appointment>/complete": (before_the_start,),
    f"POST {BASE}appointments/<id:appointment>/miss": (before_the_start,),
    f"GET {BASE}availability": (no_range,),
    f"POST {BASE}staff/<id:staff>/time-off": (one_time_off_too_many, reasons_with_one_key),
    f"GET {BASE}classes": (a_malformed_time,),
    f"POST {BASE}classes": (an_unknown_service, a_busy_host),
    f"PATCH {BASE}classes/<id:session>": (unknown_staff, a_busy_host),
    f"POST {BASE}classes/series": (an_unknown_service, too_many_series),
    f"PATCH {BASE}classes/series/<id:series>": (unknown_staff, an_ended_series),
    f"DELETE {BASE}classes/series/<id:series>": (an_ended_series,),
    f"POST {BASE}classes/<id:session>/waiting-list": (somebody_who_waits_already, a_free_class),
    f"POST {BASE}classes/<id:session>/cancel": (a_class_that_is_over,),
    f"POST {BASE}classes/<id:session>/participants": (a_new_participant, a_completed_class),
    f"DELETE {BASE}classes/<id:session>/participants/<id:contact>": (a_seat_that_is_taken,),
}
