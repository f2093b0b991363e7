"""Configuration → Domains: the agency's hosts, their records in the DNS, and what the last check found there."""

from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.console.forms import DomainForm
from agency.console.views.base import ConsoleView, FormPage, crumb
from agency.models import Domain
from agency.pages.branding.domain_states import dns_records, state_of
from agency.pages.concurrency import ConcurrencyLimit
from agency.pages.forms.forms import Confirmation
from agency.pages.lists import Pages, with_id
from agency.pages.locale import in_page_language
from agency.pages.tables import Column, ListPage, Table
from agency.services.domains.checks import check_domain
from agency.services.domains.claims import (
    MOST_DOMAINS,
    DomainNotFound,
    add_domain,
    make_primary,
    remove_domain,
)
from agency.services.domains.hosts import url_of_host
from config.errors import Conflict

TITLE = gettext_lazy("Domains")
NAV = "console:domains"
DOMAIN = "console:domain"
# A look-up may take some seconds. The limit keeps look-ups from occupying all threads of a web process.
LOOK_UPS = ConcurrencyLimit(2)


class ManyAreChecked(Conflict):
    message = "Many domains are being checked right now. Try again in a moment."


class Domains(ListPage, ConsoleView):
    """Lists all domains on one page, as an agency has a few; unless sorted, the primary one comes first."""

    nav = NAV
    table = Table(
        caption=TITLE,
        columns=(
            Column(name="domain", label=gettext_lazy("Domain"), order=("host", "id")),
            Column(name="state", label=gettext_lazy("State")),
            Column(name="checked", label=gettext_lazy("Last check"), order=("checked_at", "id"), descends_first=True),
        ),
    )

    def get(self, request: HttpRequest) -> HttpResponse:
        state = self.read_table()
        domains = Domain.objects.of(self.agency).order_by(*(state.order or ("-is_primary", "host")))[:MOST_DOMAINS]
        rows = [(domain, state_of(domain)) for domain in domains]
        state.show(rows, Pages(asked=1, total=len(rows)))
        return self.list_page("agency/domains.html", state, public_url=settings.PUBLIC_URL)


class DomainNew(FormPage[DomainForm]):
    nav = NAV
    creates = True

    def make_form(self, data: Any = None) -> DomainForm:
        return DomainForm(data)

    def save(self, form: DomainForm) -> HttpResponse:
        domain = add_domain(agency=self.agency, host=form.cleaned_data["host"], now=timezone.now(), by=self.by)
        message = _("%(host)s was added. Now set its records in the DNS.") % {"host": domain.host}
        return self.done(message, DOMAIN, domain.uuid)

    def context(self) -> dict[str, Any]:
        return {"crumbs": [crumb(TITLE, NAV)], "heading": _("Add a domain"), "submit": _("Add domain")}


class OneDomain(ConsoleView):
    """A page or a button about one domain."""

    nav = NAV
    form_page = DOMAIN

    def find_domain(self, uuid: UUID | None) -> Domain:
        found = with_id(Domain.objects.of(self.agency), uuid)
        if found is None:
            raise DomainNotFound
        return found


class DomainPage(OneDomain):
    def get(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        domain = self.find_domain(uuid)
        return self.page(
            "agency/domain.html",
            domain=domain,
            state=state_of(domain),
            records=dns_records(domain),
            address=url_of_host(domain.host),
        )


class DomainCheck(OneDomain):
    """Checks the domain in the DNS at once."""

    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        domain = self.find_domain(uuid)
        try:
            with LOOK_UPS.slot() as is_free:
                if not is_free:
                    raise ManyAreChecked
                domain = check_domain(domain=domain, now=timezone.now(), by=self.by)
        except Conflict as refusal:
            messages.error(request, in_page_language(refusal.message))
            return redirect(DOMAIN, domain.uuid)
        state = state_of(domain)
        (messages.success if state.tone == "good" else messages.warning)(request, str(state.text))
        return redirect(DOMAIN, domain.uuid)


class DomainPrimary(OneDomain):
    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        domain = make_primary(domain=self.find_domain(uuid), by=self.by)
        return self.done(_("New links lead to %(host)s.") % {"host": domain.host}, DOMAIN, domain.uuid)


class DomainRemove(FormPage[Confirmation], OneDomain):
    domain: Domain

    def find(self, **ids: Any) -> None:
        self.domain = self.find_domain(ids["uuid"])

    def make_form(self, data: Any = None) -> Confirmation:
        return Confirmation(data)

    def save(self, form: Confirmation) -> HttpResponse:
        remove_domain(domain=self.domain, by=self.by)
        return self.done(_("%(host)s was removed.") % {"host": self.domain.host}, NAV)

    def context(self) -> dict[str, Any]:
        host = self.domain.host
        warning = _("It is the primary one: new links will lead to another domain of yours, or to ours.")
        return {
            "crumbs": [crumb(TITLE, NAV), (host, reverse(DOMAIN, args=[self.domain.uuid]))],
            "heading": _("Remove %(host)s?") % {"host": host},
            "text": _(
                "It is no longer answered from that moment on: links to it that were sent stop working. Invitations "
                "that wait for an answer are sent again, with links to where your customers are then."
            )
            if self.domain.is_verified
            else _("Nothing else changes: it is not verified."),
            "warning": warning if self.domain.is_primary else "",
            "submit": _("Remove domain"),
            "danger": True,
        }
