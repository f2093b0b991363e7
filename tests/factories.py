"""Things to test with, made by the services that make them for everybody."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from io import BytesIO
from typing import Any, TypeVar
from uuid import UUID

from django.utils.timezone import now
from factory.base import Factory
from factory.declarations import LazyFunction, Sequence, SubFactory

from agency import limits
from agency.actors import SYSTEM
from agency.models import Addon, Agency, AgencyKey, Invitation, Member, Plan, User
from agency.services import accept_invitation, add_member, create_addon, create_agency, create_plan, issue_agency_key
from agency.tenants import Tenant
from webhooks.models import Endpoint
from webhooks.services import register_endpoint
from workspaces.catalogue.models import Product, Service, ServiceCategory
from workspaces.catalogue.services import create_category, create_product, create_service
from workspaces.classes.models import ClassSession, Staff
from workspaces.classes.services import add_participant, create_staff, schedule_class
from workspaces.contacts.models import Contact, ContactImport, Segment
from workspaces.contacts.services import create_contact, create_segment
from workspaces.contacts.services.imports.file_imports import upload_contacts
from workspaces.media.models import Media
from workspaces.media.services import store_media
from workspaces.subaccounts.models import Channel, Workspace, WorkspaceKey
from workspaces.subaccounts.services import connect_channel, create_workspace, issue_workspace_key

Made = TypeVar("Made")

A_MOMENT_AGO = LazyFunction(now)


class ByService(Factory[Made]):
    """Hands the declared values to `make`, which calls the service."""

    class Meta:
        abstract = True

    by = SYSTEM

    @classmethod
    def _create(cls, model_class: type[Made], *args: Any, **values: Any) -> Made:
        return cls.make(**values)

    @classmethod
    def make(cls, **values: Any) -> Made:
        """Call the service that makes one. Each factory has its own."""
        raise NotImplementedError


class UserFactory(Factory[User]):
    class Meta:
        model = User

    email = Sequence(lambda number: f"person-{number}@example.com")
    name = Sequence(lambda number: f"Person {number}")

    @classmethod
    def _create(cls, model_class: type[User], *args: Any, **values: Any) -> User:
        return User.objects.create_user(**values)


class AgencyFactory(ByService[Agency]):
    class Meta:
        model = Agency

    name = Sequence(lambda number: f"Agency {number}")

    @classmethod
    def make(cls, **values: Any) -> Agency:
        return create_agency(**values)


class MemberFactory(ByService[Member]):
    class Meta:
        model = Member

    agency = SubFactory(AgencyFactory)
    email = Sequence(lambda number: f"member-{number}@example.com")
    name = Sequence(lambda number: f"Member {number}")
    role = Member.Role.ADMIN

    @classmethod
    def make(cls, **values: Any) -> Member:
        return add_member(**values)


class PlanFactory(ByService[Plan]):
    class Meta:
        model = Plan

    agency = SubFactory(AgencyFactory)
    name = Sequence(lambda number: f"Plan {number}")
    limits = LazyFunction(lambda: plan_limits(contacts=1_000))

    @classmethod
    def make(cls, **values: Any) -> Plan:
        return create_plan(**values)


class AddonFactory(ByService[Addon]):
    class Meta:
        model = Addon

    agency = SubFactory(AgencyFactory)
    name = Sequence(lambda number: f"Add-on {number}")
    limits = LazyFunction(lambda: addon_limits(contacts=500))

    @classmethod
    def make(cls, **values: Any) -> Addon:
        return create_addon(**values)


class WorkspaceFactory(ByService[Workspace]):
    class Meta:
        model = Workspace

    agency = SubFactory(AgencyFactory)
    name = Sequence(lambda number: f"Customer {number}")
    owner_name = Sequence(lambda number: f"Owner {number}")
    owner_email = Sequence(lambda number: f"owner-{number}@example.com")
    now = A_MOMENT_AGO

    @classmethod
    def make(cls, **values: Any) -> Workspace:
        """Make one that is its owner's: whoever has to be asked first has accepted."""
        workspace = create_workspace(**values)
        if workspace.owner_pending_since:
            asked = Invitation.objects.get(workspace_uuid=workspace.uuid)
            accept_invitation(invitation=asked, user=workspace.owner, now=now(), by=SYSTEM)
            workspace.refresh_from_db()
        return workspace


class ChannelFactory(ByService[Channel]):
    class Meta:
        model = Channel

    workspace = SubFactory(WorkspaceFactory)
    platform = "whatsapp"
    external_id = Sequence(lambda number: f"account-{number}")
    name = Sequence(lambda number: f"Number {number}")
    handle = Sequence(lambda number: f"+4930{number:07d}")
    now = A_MOMENT_AGO

    @classmethod
    def make(cls, **values: Any) -> Channel:
        return connect_channel(**values)


class EndpointFactory(ByService[Endpoint]):
    """An address that is public and that nothing here ever calls."""

    class Meta:
        model = Endpoint

    agency = SubFactory(AgencyFactory)
    url = Sequence(lambda number: f"https://93.184.215.14/hooks/{number}")
    events = ("workspace.created",)

    @classmethod
    def make(cls, **values: Any) -> Endpoint:
        return register_endpoint(tenant=Tenant(values.pop("agency").pk), **values)


def an_agency_key(agency: Agency, *, name: str = "Integration", can_copy: bool = False) -> tuple[AgencyKey, str]:
    return issue_agency_key(agency=agency, name=name, can_copy=can_copy, by=SYSTEM)


def a_workspace_key(workspace: Workspace, *, name: str = "Shop") -> tuple[WorkspaceKey, str]:
    return issue_workspace_key(workspace=workspace, name=name, by=SYSTEM)


def plan_limits(**values: int | None) -> limits.Limits:
    """Limits where only the named ones limit; `channels__sms=1` names a channel type."""
    return limits.build(_dotted(values))


def addon_limits(**values: int | None) -> limits.Limits:
    """Limits that add only the named ones."""
    return limits.build(_dotted(values), missing=0)


def _dotted(values: Mapping[str, int | None]) -> dict[str, int | None]:
    return {name.replace("__", "."): value for name, value in values.items()}


def many_workspaces(agency: Agency, count: int, *, since: datetime | None = None) -> None:
    """Add sub-accounts in one statement: `Crowd 1` is the oldest, a second apart, owned by one person."""
    from django.db import connection

    owner = UserFactory.create()
    with connection.cursor() as cursor:
        cursor.execute(
            """INSERT INTO subaccounts_workspace (uuid, agency_id, name, name_key, status, suspension_reason, limits,
                   owner_id, owner_name, owner_email, owner_key, timezone, created_at, business_type)
               SELECT gen_random_uuid(), %(agency)s, 'Crowd ' || number, 'crowd ' || number, 'active', '', %(limits)s,
                   %(owner)s, 'Owner', %(email)s, 'owner' || E'\\n' || %(email)s, 'UTC',
                   %(since)s + number * interval '1 second', 'other'
               FROM generate_series(1, %(count)s) AS number""",
            {
                "agency": agency.pk,
                "limits": '{"contacts": null}',
                "owner": owner.pk,
                "email": owner.email,
                "since": since or datetime.fromisoformat("2026-01-01T00:00:00Z"),
                "count": count,
            },
        )


def a_file(workspace: Workspace, content: bytes = b"%PDF-1.7\n", filename: str = "bill.pdf") -> Media:
    return store_media(
        workspace=workspace, file=BytesIO(content), filename=filename, source=Media.Source.UPLOADED, now=now()
    )


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
        "contact": contact.uuid,
    }


class ContactFactory(ByService[Contact]):
    class Meta:
        model = Contact

    workspace = SubFactory(WorkspaceFactory)
    name = Sequence(lambda number: f"Contact {number}")
    now = A_MOMENT_AGO

    @classmethod
    def make(cls, **values: Any) -> Contact:
        """Nobody is named as the maker of a contact."""
        del values["by"]
        return create_contact(**values)


class SegmentFactory(ByService[Segment]):
    class Meta:
        model = Segment

    workspace = SubFactory(WorkspaceFactory)
    name = Sequence(lambda number: f"Segment {number}")
    filter = LazyFunction(lambda: {"tags_any": ["VIP"]})
    now = A_MOMENT_AGO

    @classmethod
    def make(cls, **values: Any) -> Segment:
        return create_segment(**values)


class ContactImportFactory(ByService[ContactImport]):
    class Meta:
        model = ContactImport

    workspace = SubFactory(WorkspaceFactory)
    filename = "contacts.csv"
    content = b"Name,Notes\nAda,Prefers mornings\n"
    now = A_MOMENT_AGO

    @classmethod
    def make(cls, **values: Any) -> ContactImport:
        return upload_contacts(**values)
