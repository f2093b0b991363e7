"""The agency app's sources for support's search over all agencies."""

from collections.abc import Iterator
from typing import Any, Final

from django.db.models import Q
from django.urls import reverse

from agency.models import Agency, AgencyKey, Domain, Event, Member, User
from agency.pages.support import SupportFindSource, SupportRow, key_prefix
from config.api.requests import parse_uuid
from config.db import name_key


def overview_of(agency_id: int) -> str:
    return reverse("admin:agency_agency_overview", args=[agency_id])


def found_agencies(query: str, most: int) -> Iterator[SupportRow]:
    uuid = parse_uuid(query)
    wanted = Q(uuid=uuid) if uuid else Q(name_key__startswith=name_key(query))
    for agency in Agency.objects.filter(wanted).order_by("name_key")[:most]:
        detail = f"{agency.get_status_display()} · {agency.sub_account_count:,} sub-accounts"
        yield SupportRow(title=agency.name, detail=detail, url=overview_of(agency.pk))


def found_hosts(query: str, most: int) -> Iterator[SupportRow]:
    rows = Domain.objects.filter(host__startswith=query.lower()).select_related("agency")
    for domain in rows.order_by("host", "id")[:most]:
        detail = f"{domain.agency} · {domain.get_state_display()}"
        yield SupportRow(title=domain.host, detail=detail, url=overview_of(domain.agency_id))


def found_members(query: str, most: int) -> Iterator[SupportRow]:
    """Look up users by the index of e-mail addresses first, then their memberships."""
    people = list(User.objects.filter(email__startswith=query.lower()).values_list("pk", flat=True)[:most])
    rows = Member.objects.filter(user__in=people).select_related("user", "agency")
    for member in rows.order_by("user__email", "id")[:most]:
        detail = f"{member.get_role_display()} · {member.agency}"
        yield SupportRow(title=member.user.email, detail=detail, url=overview_of(member.agency_id))


def found_keys(query: str, most: int) -> Iterator[SupportRow]:
    prefix = key_prefix(query)
    rows = AgencyKey.objects.filter(prefix=prefix).select_related("agency").order_by("-id")
    for key in rows[:most] if prefix else ():
        detail = f"{key.agency}{'' if key.is_live else f' · {key.state}'}"
        url = reverse("admin:agency_agencykey_change", args=[key.pk])
        yield SupportRow(title=f"{key.name} ({key.prefix}…)", detail=detail, url=url)


def found_events(query: str, most: int) -> Iterator[SupportRow]:
    """Find an event by its id, which its envelope carries and receivers have in their logs."""
    uuid = parse_uuid(query)
    for event in Event.objects.filter(uuid=uuid).select_related("agency")[:most] if uuid else ():
        url = reverse("admin:agency_event_change", args=[event.pk])
        yield SupportRow(title=event.name, detail=str(event.agency), url=url)


def _source(name: str, label: str, order: int, model: str, find: Any) -> SupportFindSource:
    return SupportFindSource(name=name, label=label, order=order, permission=f"agency.view_{model}", find=find)


SOURCES: Final = (
    _source("agencies", "Agencies", 10, "agency", found_agencies),
    _source("hosts", "Hosts", 15, "domain", found_hosts),
    _source("members", "Teams", 20, "member", found_members),
    _source("keys", "Agencies' API keys", 40, "agencykey", found_keys),
    _source("events", "Events", 50, "event", found_events),
)
