"""Whose e-mail is next: what somebody waits for first, then agencies in turn, however much one of them sends."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.core import mail as outbox
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from agency.models import Agency, Mail
from agency.services import lease_next_mail, queue_mail
from agency.services.mail.queue import DUE, InFlight, RoundRobin
from agency.tasks import send_mail
from tests.factories import UserFactory
from tests.tenants import Tenant

pytestmark = pytest.mark.django_db
Kind = Mail.Kind


def queued(agency: Agency | None, *kinds: Mail.Kind) -> list[Mail]:
    return [queue_mail(kind=kind, user=UserFactory.create(), agency=agency, context={}) for kind in kinds]


def leased(turns: RoundRobin, *, at: datetime, most: int = 100, busy: InFlight | None = None) -> list[Mail]:
    """What a worker takes, one after another."""
    found = (lease_next_mail(now=at, busy=busy or InFlight(), turns=turns) for _ in range(most))
    return [mail for mail in found if mail]


def soon() -> datetime:
    return now() + timedelta(seconds=1)


def test_an_agency_s_import_holds_up_no_other_agency(a: Tenant, b: Tenant) -> None:
    many = queued(a.agency, *[Kind.OWNER_INVITATION] * 30)
    few = queued(b.agency, *[Kind.OWNER_INVITATION] * 3)
    own = queued(None, Kind.DOMAIN_RECORD_MISSING)
    order = leased(RoundRobin(), at=soon())
    assert len(order) == 34
    assert [order.index(mail) for mail in few] <= [2, 4, 6]
    assert order.index(own[0]) <= 2
    assert [mail for mail in order if mail in many] == many


def test_what_somebody_waits_for_leaves_first_whoever_it_is_for(a: Tenant, b: Tenant) -> None:
    queued(a.agency, *[Kind.WORKSPACE_INVITATION] * 5)
    queued(a.agency, Kind.SIGN_UP_KNOWN_ADDRESS, Kind.TEST)
    queued(b.agency, Kind.SIGN_UP_CONFIRMATION)
    queued(a.agency, Kind.PASSWORD_RESET, Kind.PASSWORD_RESET)
    queued(b.agency, Kind.PASSWORD_RESET, Kind.NEW_SIGN_IN)
    kinds = [mail.kind for mail in leased(RoundRobin(), at=soon())]
    assert set(kinds[:4]) == {"password_reset", "new_sign_in"}
    assert set(kinds[4:7]) == {"sign_up_known_address", "sign_up_confirmation", "test"}
    assert set(kinds[7:]) == {"workspace_invitation"}


def test_an_agency_that_was_just_sent_for_waits_until_others_were(a: Tenant, b: Tenant) -> None:
    """From one run of the worker to the next."""
    turns = RoundRobin()
    queued(a.agency, *[Kind.OWNER_INVITATION] * 4)
    assert [mail.agency for mail in leased(turns, at=soon(), most=2)] == [a.agency] * 2
    queued(b.agency, *[Kind.OWNER_INVITATION] * 2)
    assert [mail.agency for mail in leased(turns, at=soon())] == [b.agency, a.agency, b.agency, a.agency]


def test_who_is_being_sent_something_holds_up_nobody_else(a: Tenant) -> None:
    first, second = queued(a.agency, *[Kind.OWNER_INVITATION] * 2)
    assert leased(RoundRobin(), at=soon(), most=1, busy=InFlight(recipients=[first.recipient])) == [second]
    assert leased(RoundRobin(), at=soon(), busy=InFlight(installation=True)) == []


def test_finding_the_next_reads_one_entry_of_each_agency_and_kind(a: Tenant, b: Tenant) -> None:
    for tenant in (a, b):
        queued(tenant.agency, *[Kind.OWNER_INVITATION] * 40, Kind.PASSWORD_RESET)
    with CaptureQueriesContext(connection) as captured:
        assert lease_next_mail(now=soon())
    assert sum('FROM "agency_mail"' in one["sql"] or "FROM agency_mail" in one["sql"] for one in captured) == 2
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off; SET LOCAL enable_sort = off")
        cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {DUE}", {"now": soon()})
        plan = cursor.fetchone()[0]
    rows = [node["Actual Rows"] * node["Actual Loops"] for node in _scans(plan[0]["Plan"])]
    assert {node["Index Name"] for node in _scans(plan[0]["Plan"])} == {"mail_waiting_for"}
    assert sum(rows) == 4


def _scans(node: dict[str, Any]) -> list[dict[str, Any]]:
    """The nodes of a plan that read the table of e-mails."""
    own = [node] if node.get("Relation Name") == "agency_mail" else []
    return own + [found for child in node.get("Plans", []) for found in _scans(child)]


def test_an_agency_whose_hour_is_full_waits_as_a_whole(a: Tenant, b: Tenant, settings: Any) -> None:
    settings.AGENCY_MAIL_LIMIT = 2
    queued(a.agency, *[Kind.OWNER_INVITATION] * 20)
    queued(b.agency, *[Kind.OWNER_INVITATION] * 2)
    with CaptureQueriesContext(connection) as captured:
        send_mail()
    assert len(outbox.outbox) == 4
    waiting = Mail.objects.filter(sent_at=None)
    assert {(mail.agency, mail.attempts) for mail in waiting} == {(a.agency, 0)}
    assert all(mail.next_attempt_at > now() + timedelta(minutes=59) for mail in waiting)
    assert sum("FOR NO KEY UPDATE" in one["sql"] or "FOR UPDATE" in one["sql"] for one in captured) <= 6
