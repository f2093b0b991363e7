"""Agencies with their members, plans, add-ons, domains, keys and endpoints."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Unpack

from django.utils.timezone import now
from factory.base import Factory
from factory.declarations import LazyFunction, Sequence, SubFactory
from factory.django import DjangoModelFactory

from agency import limits
from agency.actors import SYSTEM
from agency.models import Addon, Agency, AgencyKey, Domain, Member, PendingSignUp, Plan, User
from agency.services import add_member, create_addon, create_agency, create_plan, issue_agency_key
from agency.services.dns import HostRecords
from agency.services.domains import add_domain, make_primary, record_check
from agency.services.keys import KeyLimits
from agency.tenants import Tenant
from tests.factories.base import A_MOMENT_AGO, ByService
from webhooks.models import Endpoint
from webhooks.services.endpoints import register_endpoint


class UserFactory(Factory[User]):
    class Meta:
        model = User

    email = Sequence(lambda number: f"person-{number}@example.com")
    name = Sequence(lambda number: f"Person {number}")

    @classmethod
    def _create(cls, model_class: type[User], *args: Any, **values: Any) -> User:
        return User.objects.create_user(**values)


class PendingSignUpFactory(DjangoModelFactory[PendingSignUp]):
    """Whose address was not looked up yet; the password that it has opens nothing."""

    class Meta:
        model = PendingSignUp

    email = Sequence(lambda number: f"customer-{number}@example.com")
    name = Sequence(lambda number: f"Customer {number}")
    password = "!"
    business = "Salon"
    timezone = "UTC"
    expires_at = LazyFunction(lambda: now() + timedelta(days=1))


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


class DomainFactory(ByService[Domain]):
    """Verified and primary, as an agency has it whose DNS is right; `is_verified=False` for one just added."""

    class Meta:
        model = Domain

    agency = SubFactory(AgencyFactory)
    host = Sequence(lambda number: f"app-{number}.agency.localhost")
    now = A_MOMENT_AGO
    is_verified = True

    @classmethod
    def make(cls, **values: Any) -> Domain:
        is_verified = values.pop("is_verified")
        domain = add_domain(**values)
        if not is_verified:
            return domain
        shown = HostRecords(texts=(domain.token,), addresses=("192.0.2.1",), points_here=True)
        verified = record_check(domain=domain, records=shown, now=values["now"], by=values["by"])
        assert verified is not None
        return make_primary(domain=verified, by=values["by"])


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


def an_agency_key(
    agency: Agency,
    *,
    name: str = "Integration",
    can_copy: bool = False,
    can_make_keys: bool = False,
    **limits: Unpack[KeyLimits],
) -> tuple[AgencyKey, str]:
    return issue_agency_key(
        agency=agency, name=name, can_copy=can_copy, can_make_keys=can_make_keys, by=SYSTEM, **limits
    )


def plan_limits(**values: int | None) -> limits.Limits:
    """Limits where only the named ones limit; `channels__sms=1` names a channel type."""
    return limits.build(_dotted(values))


def addon_limits(**values: int | None) -> limits.Limits:
    """Limits that add only the named ones."""
    return limits.build(_dotted(values), missing=0)


def _dotted(values: Mapping[str, int | None]) -> dict[str, int | None]:
    return {name.replace("__", "."): value for name, value in values.items()}
