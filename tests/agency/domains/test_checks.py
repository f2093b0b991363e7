"""Domains held against a real name server: what it says decides whose a host is."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils.timezone import now
from dns import rcode

from agency.actors import SYSTEM, Actor
from agency.models import ActivityEntry, Domain, Mail
from agency.models.branding import GRACE
from agency.services import dns
from agency.services.domains import (
    CheckedJustNow,
    DomainNotFound,
    add_domain,
    check_domain,
    check_due_domains,
    make_primary,
    remove_domain,
)
from agency.services.hosts import agency_of_host, base_url_of
from agency.services.mail.content import render_mail
from config.formats import format_day
from tests.agency.console.browsers import a_member
from tests.agency.domains.dns_records import HOST, TARGET, actions, check, show
from tests.factories import DomainFactory
from tests.fakes.name_server import NameServer
from tests.tenants import Tenant

pytestmark = pytest.mark.django_db
Finding = Domain.Finding


def test_a_domain_is_verified_served_and_primary_once_its_records_are_there(server: NameServer, domain: Domain) -> None:
    assert check(domain).finding == Finding.NO_RECORD
    assert agency_of_host(HOST) is None
    show(server, domain, "v=spf1 -all")
    checked = check(domain, minutes=1)
    assert (checked.is_verified, checked.is_primary, checked.points_here) == (True, True, True)
    assert (checked.finding, checked.found_addresses) == (Finding.FOUND, ["192.0.2.7"])
    assert agency_of_host(HOST) == domain.agency_id
    assert base_url_of(domain.agency_id) == f"http://{HOST}"
    assert actions(domain) == ["domain.added", "domain.verified"]


def test_addresses_that_the_installation_names_are_as_good_as_its_name(
    server: NameServer, domain: Domain, settings: Any
) -> None:
    settings.DOMAIN_ADDRESSES = ["2001:db8::7"]
    server.set(TARGET, "A")
    server.set(domain.verification_name, "TXT", f'"{domain.token}"')
    server.set(HOST, "AAAA", "2001:0db8:0:0::7")
    assert check(domain).points_here is True


def test_a_domain_that_leads_elsewhere_is_verified_and_not_made_primary(server: NameServer, domain: Domain) -> None:
    show(server, domain)
    server.set(HOST, "CNAME")
    server.set(HOST, "A", "198.51.100.9")
    checked = check(domain)
    assert (checked.is_verified, checked.is_primary, checked.points_here) == (True, False, False)
    assert make_primary(domain=checked, by=SYSTEM).is_primary


@pytest.mark.parametrize(
    ("fault", "finding"),
    [
        ("nothing", Finding.NO_RECORD),
        ("no texts", Finding.NO_RECORD),
        ("other", Finding.OTHER_VALUE),
        ("servfail", Finding.NO_ANSWER),
        ("refused", Finding.NO_ANSWER),
        ("silent", Finding.NO_ANSWER),
    ],
)
def test_each_wrong_answer_has_a_finding_of_its_own(
    server: NameServer, domain: Domain, monkeypatch: pytest.MonkeyPatch, fault: str, finding: str
) -> None:
    if finding == Finding.NO_ANSWER:
        monkeypatch.setattr(dns, "DEADLINE_SECONDS", 0.3)
    name = domain.verification_name
    if fault == "no texts":
        server.set(name, "A", "192.0.2.1")
    elif fault == "other":
        server.set(name, "TXT", '"another"', '"x"')
    elif fault in ("servfail", "refused"):
        server.faults[name] = rcode.SERVFAIL if fault == "servfail" else rcode.REFUSED
    elif fault == "silent":
        server.silent.add(name)
    checked = check(domain)
    assert (checked.is_verified, checked.finding) == (False, finding)
    assert checked.found_texts == (["another", "x"] if fault == "other" else [])


def test_an_answer_too_long_for_a_datagram_is_fetched_over_tcp(server: NameServer, domain: Domain) -> None:
    show(server, domain, *(f"{number}" * 200 for number in range(8)))
    server.truncated.add(domain.verification_name)
    assert check(domain).is_verified


def test_a_token_in_several_strings_is_one_text(server: NameServer, domain: Domain) -> None:
    server.set(domain.verification_name, "TXT", f'"{domain.token[:9]}" "{domain.token[9:]}"')
    assert check(domain).is_verified


def test_without_any_server_that_answers_a_check_ends_in_time(
    domain: Domain, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dns, "DEADLINE_SECONDS", 0.2)
    settings.DNS_SERVERS = [("127.0.0.1", 9)]
    assert check(domain).finding == Finding.NO_ANSWER


def test_while_trying_out_a_name_of_this_machine_needs_no_proof(
    server: NameServer, a: Tenant, domain: Domain, settings: Any
) -> None:
    assert settings.LOCALHOST_IS_PROVEN is False
    settings.LOCALHOST_IS_PROVEN = True
    assert check(domain).is_primary
    other = add_domain(agency=a.agency, host="app.example.com", now=now(), by=SYSTEM)
    assert not check(other).is_verified


def test_a_claim_keeps_nobody_from_proving_a_host(server: NameServer, domain: Domain, b: Tenant) -> None:
    proven = add_domain(agency=b.agency, host=HOST, now=now(), by=SYSTEM)
    show(server, proven)
    assert check(proven).is_verified
    assert agency_of_host(HOST) == b.agency.pk
    assert check(domain).finding == Finding.OTHER_VALUE


def test_with_both_tokens_there_the_first_keeps_it(server: NameServer, domain: Domain, b: Tenant) -> None:
    show(server, domain)
    check(domain)
    second = add_domain(agency=b.agency, host=HOST, now=now(), by=SYSTEM)
    show(server, domain, second.token)
    checked = check(second)
    assert (checked.finding, checked.is_verified) == (Finding.TAKEN, False)
    assert agency_of_host(HOST) == domain.agency_id


def test_with_the_first_token_gone_the_host_goes_over_at_once(server: NameServer, domain: Domain, b: Tenant) -> None:
    show(server, domain)
    check(domain)
    spare = DomainFactory.create(agency=domain.agency, host="spare.localhost")
    make_primary(domain=Domain.objects.get(pk=domain.pk), by=SYSTEM)
    second = add_domain(agency=b.agency, host=HOST, now=now(), by=SYSTEM)
    show(server, second)
    assert check(second).is_verified
    assert agency_of_host(HOST) == b.agency.pk
    domain.refresh_from_db()
    assert (domain.state, domain.is_primary) == ("pending", False)
    assert base_url_of(domain.agency_id) == f"http://{spare.host}"
    assert actions(domain)[-1] == "domain.lost"


def test_owners_who_lose_a_host_get_an_email_that_names_no_other_agency(
    server: NameServer, domain: Domain, b: Tenant
) -> None:
    owner = a_member(domain.agency, "owner").user
    a_member(b.agency, "owner")
    show(server, domain)
    check(domain)
    DomainFactory.create(agency=domain.agency, host="spare.localhost")
    make_primary(domain=Domain.objects.get(pk=domain.pk), by=SYSTEM)
    second = add_domain(agency=b.agency, host=HOST, now=now(), by=SYSTEM)
    show(server, second)
    member = Actor(kind="user", id="7", label="member@bob.example", address="192.0.2.9", request_id="of-bob")
    check_domain(domain=second, now=now(), by=member)

    entries = ActivityEntry.objects.filter(agency=domain.agency).order_by("id")
    assert [one.action for one in entries][-2:] == ["domain.lost", "domain.made_primary"]
    assert {(one.actor_label, one.address, one.request_id) for one in entries} == {("system", "", "")}
    assert ActivityEntry.objects.get(agency=b.agency, action="domain.verified").actor_label == member.label
    [mail] = Mail.objects.all()
    assert (mail.user, mail.agency) == (owner, domain.agency)
    assert f"You have lost {HOST} here" in written(mail)
    assert "bob" not in written(mail)


def test_a_record_that_is_gone_is_a_concern_for_two_weeks_and_then_an_end(server: NameServer, domain: Domain) -> None:
    owner = a_member(domain.agency, "owner").user
    a_member(domain.agency, "admin")
    show(server, domain)
    check(domain)
    server.set(domain.verification_name, "TXT")
    failing = check(domain, days=1)
    assert (failing.is_verified, failing.served_until) == (True, now_of(failing) + GRACE)
    assert agency_of_host(HOST) == domain.agency_id
    assert check(domain, days=14, hours=23).is_verified
    ended = check(domain, days=15, minutes=1)
    assert (ended.is_verified, ended.is_primary, agency_of_host(HOST)) == (False, False, None)
    assert actions(domain) == ["domain.added", "domain.verified", "domain.record_missing", "domain.lost"]
    first, last = Mail.objects.filter(user=owner).order_by("id")
    assert f"{HOST} is yours is gone from the DNS" in written(first)
    assert f"The domain works until {format_day(now_of(failing) + GRACE)}" in written(first)
    assert f"{HOST} no longer works" in written(last)
    assert Mail.objects.count() == 2


def written(mail: Mail) -> str:
    return str(render_mail(mail, link="").body)


def now_of(domain: Domain) -> Any:
    assert domain.failing_since
    return domain.failing_since


def test_with_the_record_back_all_is_well_again(server: NameServer, domain: Domain) -> None:
    show(server, domain)
    check(domain)
    server.set(domain.verification_name, "TXT", '"other"')
    assert check(domain, days=1).served_until
    show(server, domain)
    mended = check(domain, days=20)
    assert (mended.is_verified, mended.served_until) == (True, None)


def test_name_servers_that_do_not_answer_end_nothing(server: NameServer, domain: Domain) -> None:
    show(server, domain)
    check(domain)
    server.faults[domain.verification_name] = rcode.SERVFAIL
    checked = check(domain, days=40)
    assert (checked.is_verified, checked.served_until, checked.finding) == (True, None, Finding.NO_ANSWER)
    assert checked.next_check_at == checked.checked_at + timedelta(hours=1) if checked.checked_at else False


def test_it_is_asked_about_once_in_ten_seconds(server: NameServer, domain: Domain) -> None:
    check(domain)
    with pytest.raises(CheckedJustNow):
        check(domain, seconds=9)
    check(domain, seconds=11)
    assert server.asked[domain.verification_name, "TXT"] == 2


def test_no_question_is_asked_in_a_transaction_of_ours(
    server: NameServer, domain: Domain, monkeypatch: pytest.MonkeyPatch
) -> None:
    depths = []
    outside = len(connection.savepoint_ids)
    look_up = dns._texts

    async def watch(*arguments: Any) -> Any:
        depths.append(len(connection.savepoint_ids))
        return await look_up(*arguments)

    monkeypatch.setattr(dns, "_texts", watch)
    check(domain)
    Domain.objects.update(next_check_at=now())
    check_due_domains()
    assert depths == [outside, outside]


@pytest.mark.parametrize(
    ("age", "every"),
    [
        (timedelta(0), timedelta(seconds=30)),
        (timedelta(hours=1), timedelta(minutes=5)),
        (timedelta(days=1), timedelta(minutes=30)),
        (timedelta(days=20), timedelta(hours=12)),
        (timedelta(days=31), None),
    ],
)
def test_it_is_looked_at_less_and_less(
    server: NameServer, domain: Domain, age: timedelta, every: timedelta | None
) -> None:
    checked = check_domain(domain=domain, now=domain.created_at + age, by=SYSTEM)
    assert checked.next_check_at == (domain.created_at + age + every if every else None)


def test_those_that_are_due_are_looked_at_all_at_once(server: NameServer, a: Tenant, monkeypatch: Any) -> None:
    monkeypatch.setattr(dns, "DEADLINE_SECONDS", 4.0)
    domains = [DomainFactory.create(agency=a.agency, host=f"d{n}.localhost", is_verified=False) for n in range(10)]
    for domain in domains[:5]:
        show(server, domain)
    for domain in domains[5:]:
        server.silent.add(domain.verification_name)
    later = DomainFactory.create(agency=a.agency, host="later.localhost")
    assert check_due_domains() is False
    found = Domain.objects.exclude(pk=later.pk).order_by("id")
    assert [one.is_verified for one in found] == [True] * 5 + [False] * 5
    assert [one.is_primary for one in found] == [False] * 10
    assert later.verification_name not in {name for name, _ in server.asked}
    assert check_due_domains() is False
    assert sum(server.asked[one.verification_name, "TXT"] for one in domains[:5]) == 5


def test_one_that_is_removed_meanwhile_stays_so(server: NameServer, domain: Domain, monkeypatch: Any) -> None:
    show(server, domain)
    look_up = dns._texts

    async def removed(*arguments: Any) -> Any:
        return await look_up(*arguments)

    monkeypatch.setattr(dns, "_texts", removed)
    remove_domain(domain=domain, by=SYSTEM)
    with pytest.raises((DomainNotFound, CheckedJustNow)):
        check(domain)
    assert agency_of_host(HOST) is None
