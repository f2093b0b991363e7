"""How the statuses of the catalogue's and the classes' operations are brought about."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from tests.document.calls import Call, Provocation
from tests.factories import ClassSessionFactory, ProductFactory, ServiceCategoryFactory, StaffFactory
from workspaces.classes.models import ClassSession
from workspaces.classes.services import add_participant
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


def _a_contact(call: Call) -> Any:
    return Contact.objects.create(workspace=call.tenant.workspace, name="New", search_key="new").uuid


OF_THEIR_OWN: dict[str, tuple[Provocation, ...]] = {
    f"POST {BASE}products": (an_unknown_category,),
    f"POST {BASE}services": (an_unknown_category, two_names_with_one_key),
    f"POST {BASE}service-categories": (two_names_with_one_key,),
    f"POST {BASE}staff": (two_names_with_one_key,),
    f"PATCH {BASE}services/<id:service>": (a_service_with_classes,),
    f"DELETE {BASE}services/<id:service>": (a_service_with_classes,),
    f"DELETE {BASE}service-categories/<id:category>": (a_category_in_use,),
    f"DELETE {BASE}staff/<id:staff>": (staff_with_classes,),
    f"GET {BASE}classes": (a_malformed_time,),
    f"POST {BASE}classes": (an_unknown_service,),
    f"POST {BASE}classes/<id:session>/cancel": (a_class_that_is_over,),
    f"POST {BASE}classes/<id:session>/participants": (a_new_participant, a_completed_class),
    f"DELETE {BASE}classes/<id:session>/participants/<id:contact>": (a_seat_that_is_taken,),
}
