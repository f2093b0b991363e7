"""Configuration → Domains: the agency's hosts, their records in the DNS, and what the last check found there."""

from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.console.base import ConsoleView, FormPage, breadcrumb
from agency.console.forms import DomainForm
from agency.models import Domain
from agency.pages.branding import in_page_language
from agency.pages.forms import ConfirmationForm
from agency.pages.pagination import NumberedPages, with_id
from agency.pages.registry import StrOrPromise
from agency.pages.tables import Column, ListPage, Table
from agency.pages.views import ConcurrencyLimit
from agency.services.domains import MOST_DOMAINS, DomainNotFound, add_domain, check_domain, make_primary, remove_domain
from agency.services.hosts import url_of_host
from config.errors import Conflict
from config.formats import format_day

Finding = Domain.Finding
PENDING: dict[str, StrOrPromise] = {
    Finding.NOT_CHECKED: gettext_lazy("We have not checked yet."),
    Finding.NO_RECORD: gettext_lazy("We have not found the TXT record yet. A new record can take an hour to appear."),
    Finding.OTHER_VALUE: gettext_lazy("There is a TXT record, but it has another value."),
    Finding.NO_ANSWER: gettext_lazy("The name servers of this domain did not answer. We keep trying."),
    Finding.TAKEN: gettext_lazy(
        "Your record is correct, but another account has this domain, and its record is there, too. "
        "Remove that record from the DNS, then check again."
    ),
}


@dataclass(frozen=True, slots=True)
class DomainState:
    """A badge, whose colour is `tone`, and a sentence."""

    label: StrOrPromise
    tone: str
    text: StrOrPromise


@dataclass(frozen=True, slots=True)
class DnsRecord:
    """A record to enter in the domain's DNS; `found` is what the last check saw there."""

    kind: str
    name: str
    value: str
    found: tuple[str, ...]
    is_right: bool | None


def state_of(domain: Domain) -> DomainState:
    """Return a domain's state, and what to do about it."""
    if not domain.is_verified:
        return DomainState(_("Not verified"), "", PENDING.get(domain.finding, PENDING[Finding.NOT_CHECKED]))
    if domain.served_until:
        text = _("The TXT record is gone. Set it again before %(day)s, or the domain stops working.")
        return DomainState(_("Record missing"), "bad", text % {"day": format_day(domain.served_until)})
    if domain.points_here is False:
        return DomainState(_("Points elsewhere"), "bad", _("The domain is yours, but it does not point here yet."))
    if domain.points_here is None:
        return DomainState(_("Verified"), "good", _("The domain is yours. We could not check where it points."))
    return DomainState(_("Verified"), "good", _("The domain is yours, and it points here."))


def dns_records(domain: Domain) -> list[DnsRecord]:
    """Return the record that proves ownership, and those that point the host here, of which one kind is enough."""
    has_token = domain.token in domain.found_texts if domain.checked_at else None
    found = tuple(domain.found_addresses)
    return [
        DnsRecord("TXT", domain.verification_name, domain.token, tuple(domain.found_texts), has_token),
        DnsRecord("CNAME", domain.host, settings.DOMAIN_TARGET, found, domain.points_here),
        *(
            DnsRecord("AAAA" if ip_address(one).version == 6 else "A", domain.host, one, found, domain.points_here)
            for one in settings.DOMAIN_ADDRESSES
        ),
    ]


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
        state.show(rows, NumberedPages(asked=1, total=len(rows)))
        return self.list_page("agency/domains.html", state, public_url=settings.PUBLIC_URL)


class DomainNew(FormPage[DomainForm]):
    nav = NAV
    creates = True

    def make_form(self, data: Mapping[str, object] | None = None) -> DomainForm:
        return DomainForm(data)

    def save(self, form: DomainForm) -> HttpResponse:
        domain = add_domain(agency=self.agency, host=form.cleaned_data["host"], now=timezone.now(), by=self.by)
        message = _("%(host)s was added. Now set its records in the DNS.") % {"host": domain.host}
        return self.done(message, DOMAIN, domain.uuid)

    def context(self) -> dict[str, object]:
        return {"crumbs": [breadcrumb(TITLE, NAV)], "heading": _("Add a domain"), "submit": _("Add domain")}


class DomainMixin(ConsoleView):
    """A page or a button about one domain."""

    nav = NAV
    form_page = DOMAIN

    def find_domain(self, uuid: UUID | None) -> Domain:
        found = with_id(Domain.objects.of(self.agency), uuid)
        if found is None:
            raise DomainNotFound
        return found


class DomainPage(DomainMixin):
    def get(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        domain = self.find_domain(uuid)
        return self.page(
            "agency/domain.html",
            domain=domain,
            state=state_of(domain),
            is_check_due=domain.next_check_at is not None and domain.next_check_at <= timezone.now(),
            records=dns_records(domain),
            address=url_of_host(domain.host),
        )


class DomainCheck(DomainMixin):
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


class DomainPrimary(DomainMixin):
    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        domain = make_primary(domain=self.find_domain(uuid), by=self.by)
        return self.done(_("New links lead to %(host)s.") % {"host": domain.host}, DOMAIN, domain.uuid)


class DomainRemove(FormPage[ConfirmationForm], DomainMixin):
    domain: Domain

    def find(self, **ids: UUID | None) -> None:
        self.domain = self.find_domain(ids["uuid"])

    def make_form(self, data: Mapping[str, object] | None = None) -> ConfirmationForm:
        return ConfirmationForm(data)

    def save(self, form: ConfirmationForm) -> HttpResponse:
        remove_domain(domain=self.domain, by=self.by)
        return self.done(_("%(host)s was removed.") % {"host": self.domain.host}, NAV)

    def context(self) -> dict[str, object]:
        host = self.domain.host
        warning = _("This is your primary domain. New links will lead to another domain of yours, or to ours.")
        return {
            "crumbs": [breadcrumb(TITLE, NAV), (host, reverse(DOMAIN, args=[self.domain.uuid]))],
            "heading": _("Remove %(host)s?") % {"host": host},
            "text": _(
                "The domain stops working at once, and so do the links to it that you have sent. We send pending "
                "invitations again, with new links."
            )
            if self.domain.is_verified
            else _("Nothing else changes, because the domain is not verified."),
            "warning": warning if self.domain.is_primary else "",
            "submit": _("Remove domain"),
            "danger": True,
        }
