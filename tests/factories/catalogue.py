"""What sub-accounts offer: products, services, staff and classes."""

from datetime import time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.utils.timezone import now
from factory.declarations import LazyFunction, Sequence, SubFactory

from tests.factories.base import A_MOMENT_AGO, ByService
from tests.factories.contacts import ContactFactory
from tests.factories.workspaces import WorkspaceFactory
from workspaces.catalogue.models import Product, Service, ServiceCategory, Staff
from workspaces.catalogue.services import create_category, create_product, create_service, create_staff
from workspaces.classes.models import ClassSeries, ClassSession
from workspaces.classes.services import add_participant, create_series, schedule_class
from workspaces.contacts.models import Contact
from workspaces.subaccounts.models import Workspace


class ServiceCategoryFactory(ByService[ServiceCategory]):
    class Meta:
        model = ServiceCategory

    workspace = SubFactory(WorkspaceFactory)
    name = Sequence(lambda number: f"Category {number}")
    now = A_MOMENT_AGO

    @classmethod
    def make(cls, **values: Any) -> ServiceCategory:
        return create_category(**values)


class ServiceFactory(ByService[Service]):
    class Meta:
        model = Service

    workspace = SubFactory(WorkspaceFactory)
    name = Sequence(lambda number: f"Service {number}")
    kind = "class"
    duration_minutes = 60
    now = A_MOMENT_AGO

    @classmethod
    def make(cls, **values: Any) -> Service:
        return create_service(**values)


class ProductFactory(ByService[Product]):
    class Meta:
        model = Product

    workspace = SubFactory(WorkspaceFactory)
    name = Sequence(lambda number: f"Product {number}")
    price = Decimal("9.90")
    now = A_MOMENT_AGO

    @classmethod
    def make(cls, **values: Any) -> Product:
        return create_product(**values)


class StaffFactory(ByService[Staff]):
    class Meta:
        model = Staff

    workspace = SubFactory(WorkspaceFactory)
    name = Sequence(lambda number: f"Staff member {number}")
    now = A_MOMENT_AGO

    @classmethod
    def make(cls, **values: Any) -> Staff:
        return create_staff(**values)


class ClassSessionFactory(ByService[ClassSession]):
    """A class of tomorrow, with ten seats."""

    class Meta:
        model = ClassSession

    workspace = SubFactory(WorkspaceFactory)
    starts_at = LazyFunction(lambda: now() + timedelta(days=1))
    capacity = 10
    now = A_MOMENT_AGO

    @classmethod
    def make(cls, **values: Any) -> ClassSession:
        service = values.pop("service", None) or ServiceFactory.create(workspace=values["workspace"])
        return schedule_class(service=service, **values)


class ClassSeriesFactory(ByService[ClassSeries]):
    """A series of next week, whose classes are not made yet."""

    class Meta:
        model = ClassSeries

    workspace = SubFactory(WorkspaceFactory)
    first_date = LazyFunction(lambda: (now() + timedelta(days=7)).date())
    start_time = time(18)
    timezone = "UTC"
    capacity = 10
    now = A_MOMENT_AGO

    @classmethod
    def make(cls, **values: Any) -> ClassSeries:
        service = values.pop("service", None) or ServiceFactory.create(workspace=values["workspace"])
        return create_series(service=service, **values)


def catalogue_ids(workspace: Workspace, mark: str, contact: Contact | None = None) -> dict[str, UUID]:
    """Give the id of one of everything that is offered, and of a contact who has a seat in the class."""
    contact = contact or ContactFactory.create(workspace=workspace, name=f"Contact {mark}")
    service = ServiceFactory.create(workspace=workspace, name=f"Class {mark}")
    staff = StaffFactory.create(workspace=workspace, name=f"Host {mark}")
    hosted = StaffFactory.create(workspace=workspace, name=f"Hosts a class {mark}")
    session = ClassSessionFactory.create(workspace=workspace, service=service, staff=hosted)
    add_participant(session=session, contact=contact, now=now())
    return {
        "product": ProductFactory.create(workspace=workspace, name=f"Product {mark}").uuid,
        "category": ServiceCategoryFactory.create(workspace=workspace, name=f"Category {mark}").uuid,
        "service": ServiceFactory.create(workspace=workspace, name=f"Service {mark}").uuid,
        "class_service": service.uuid,
        "staff": staff.uuid,
        "session": session.uuid,
        "series": ClassSeriesFactory.create(workspace=workspace, service=service).uuid,
        "contact": contact.uuid,
    }
