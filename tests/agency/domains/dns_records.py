"""A domain's records in a real name server."""

from datetime import timedelta

from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import ActivityEntry, Domain
from agency.services.domains import check_domain
from tests.fakes.name_server import NameServer

HOST = "app.ada.localhost"
TARGET = "in.service.localhost"


def show(server: NameServer, domain: Domain, *more: str) -> None:
    """Have the domain's token in the DNS, and its address here."""
    server.set(domain.verification_name, "TXT", f'"{domain.token}"', *(f'"{text}"' for text in more))
    server.set(domain.host, "CNAME", f"{TARGET}.")


def check(domain: Domain, **after: float) -> Domain:
    return check_domain(domain=domain, now=now() + timedelta(**after), by=SYSTEM)


def actions(domain: Domain) -> list[str]:
    found = ActivityEntry.objects.filter(target_id=str(domain.uuid)).order_by("id")
    return list(found.values_list("action", flat=True))
