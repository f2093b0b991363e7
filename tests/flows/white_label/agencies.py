"""Two agencies with hosts and looks of their own, and one person who belongs to both of them."""

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.test import Client

from agency.actors import SYSTEM
from agency.models import Brand, Domain, User
from agency.services import add_member, set_accent, set_picture
from config.serving.middleware import HOST_AGENCY
from tests.agency.console.browsers import a_browser
from tests.factories import DomainFactory
from tests.images.pictures import a_picture
from tests.tenants import Tenant
from workspaces.subaccounts.models import Workspace

# What the product calls itself, its mark, and its own address.
OF_THE_PRODUCT = ("agency system", "agency-system", "mark.svg")


@dataclass
class HostedAgency:
    """A tenant with a verified primary host and with looks."""

    tenant: Tenant
    name: str
    colour: str
    domain: Domain = field(init=False)

    def __post_init__(self) -> None:
        agency = self.tenant.agency
        self.domain = DomainFactory.create(agency=agency, host=f"{self.name}.agency.localhost")
        set_accent(agency=agency, accent=f"#{self.colour}", by=SYSTEM)
        # Pictures of different sizes: their digests differ.
        set_picture(agency=agency, kind="logo", file=a_picture(200 + len(self.name), 60), by=SYSTEM)
        set_picture(agency=agency, kind="dark_logo", file=a_picture(220 + len(self.name), 60), by=SYSTEM)

    @property
    def host(self) -> str:
        return self.domain.host

    @cached_property
    def brand(self) -> Brand:
        """Its looks, which no story changes: asked for once, and not for every page."""
        return Brand.objects.get(agency=self.tenant.agency)

    @property
    def traces(self) -> tuple[str, ...]:
        """What names this agency wherever it stands."""
        brand = self.brand
        pictures = (brand.logo_digest, brand.dark_logo_digest, brand.favicon_digest)
        return (self.tenant.mark, self.host, f"/brand/{self.colour}.css", *pictures)

    def browser(self, person: User | None = None) -> Client:
        """A browser on the agency's host; with a person, one who has signed in there."""
        browser = a_browser(person)
        browser.defaults["HTTP_HOST"] = self.host
        if person:
            session = browser.session
            session[HOST_AGENCY] = self.tenant.agency.pk
            session.save()
        return browser


Hosts = tuple[HostedAgency, HostedAgency]


def belongs_to_both(person: User, *agencies: HostedAgency) -> None:
    """Make the person an owner in each team, and the owner of each customer."""
    for one in agencies:
        add_member(agency=one.tenant.agency, email=person.email, name="", role="owner", by=SYSTEM)
    is_customer_of_both(person, *agencies)


def is_customer_of_both(person: User, *agencies: HostedAgency) -> None:
    for one in agencies:
        own = Workspace.objects.filter(pk=one.tenant.workspace.pk)
        own.update(owner=person, owner_name=person.name, owner_pending_since=None)
        one.tenant.workspace.refresh_from_db()


def text_of(answer: Any) -> str:
    """Everything that an answer says: its body, and where it leads."""
    body = b"".join(answer.streaming_content) if answer.streaming else answer.content
    return f"{answer.headers.get('Location', '')}\n{body.decode('utf-8', 'replace')}"


def traces_in(text: str, *others: HostedAgency) -> list[str]:
    """Give what of other agencies, or of the product, stands in a text."""
    small = text.lower()
    wanted = [*OF_THE_PRODUCT, urlsplit(settings.PUBLIC_URL).netloc]
    return [trace for trace in [*wanted, *(one for other in others for one in other.traces)] if trace in small]


RESOURCE = re.compile(r'<(?:link|img|script|source|use|video|audio)\b[^>]*?\b(?:href|src|srcset)="([^"]+)"')


def resources_of(page: str) -> set[str]:
    """Give the addresses of all that a page fetches by itself."""
    return {address.partition("#")[0] for address in RESOURCE.findall(page) if not address.startswith("data:")}


def title_of(page: str) -> str:
    found = re.search(r"<title>(.*?)</title>", page, re.DOTALL)
    return found[1].strip() if found else ""
