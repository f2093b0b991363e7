"""The state of a domain in words, and the DNS records that it needs."""

from dataclasses import dataclass
from ipaddress import ip_address

from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.models import Domain
from agency.pages.registry import StrOrPromise

Finding = Domain.Finding
PENDING: dict[str, StrOrPromise] = {
    Finding.NOT_CHECKED: gettext_lazy("Nothing was checked yet."),
    Finding.NO_RECORD: gettext_lazy("The TXT record is not there yet. A new record can take an hour to be seen."),
    Finding.OTHER_VALUE: gettext_lazy("There is a TXT record, with another value."),
    Finding.NO_ANSWER: gettext_lazy("The name servers of this domain did not answer. We go on asking."),
    Finding.TAKEN: gettext_lazy(
        "The record is right, but another account has this domain, and its record is there as well. "
        "Remove that one from the DNS, then check again."
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
        text = _("The TXT record is gone. Set it again before %(day)s, or the domain will no longer be answered.")
        return DomainState(_("Record missing"), "bad", text % {"day": f"{domain.served_until:%Y-%m-%d}"})
    if domain.points_here is False:
        return DomainState(_("Leads elsewhere"), "bad", _("It is yours, but its address is not ours yet."))
    if domain.points_here is None:
        return DomainState(_("Verified"), "good", _("It is yours. Where it leads could not be seen."))
    return DomainState(_("Verified"), "good", _("It is yours, and it leads here."))


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
