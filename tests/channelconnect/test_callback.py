"""What comes back from the provider, or claims to."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from django.db import connection, connections
from django.test import Client
from django.utils.timezone import now

from agency.actors import SYSTEM
from channelconnect.models import ConnectSession
from channelconnect.pages.base import MOST_AT_ONCE, PROVIDER_CALLS
from channelconnect.services.sessions.ending import cancel_session
from tests import furnished
from tests.channelconnect.agencies import a_session, connection_events, path_of, switch_on
from tests.channelconnect.customer import Customer, a_browser, link_of, outcome, state_in
from tests.channelconnect.customer import path_of as local
from tests.factories import PlanFactory, plan_limits
from tests.parallel import at_once
from tests.tenants import Tenant
from tests.waiting import PATIENCE_SECONDS
from workspaces.subaccounts.models import Channel
from workspaces.subaccounts.services import assign_plan

pytestmark = pytest.mark.slow

a = furnished.a_with_customer

PATH = "/connect/callback"


def everything(session: ConnectSession) -> dict[str, Any]:
    return {**ConnectSession.objects.values().get(pk=session.pk)}


def at_the_provider(tenant: Tenant, customer: Customer, **more: Any) -> tuple[ConnectSession, str]:
    """A session at the provider, and the dialog's address."""
    session = a_session(tenant, **more)
    customer.open(link_of(session))
    return session, customer.press_continue()


def exchanges(customer: Customer) -> int:
    return sum(call["call"] == "exchange" for call in customer.sandbox.ledger()["calls"])


def test_the_address_with_code_and_state_gives_way_to_a_clean_one(connecting: Tenant, customer: Customer) -> None:
    session, dialog = at_the_provider(connecting, customer)
    answer = customer.browser.get(local(customer.consent(dialog)))
    assert (answer.status_code, answer["Location"], answer.content) == (303, f"/connect/s/{session.uuid}", b"")


def test_the_dialog_is_asked_for_our_app_with_a_state_of_256_bits(connecting: Tenant, customer: Customer) -> None:
    session, dialog = at_the_provider(connecting, customer)
    query = parse_qs(urlsplit(dialog).query)
    assert query["redirect_uri"] == ["http://testserver/connect/callback"]
    assert len(state_in(dialog)) == 32 + 43
    assert state_in(dialog).encode() not in bytes(everything(session)["state_digest"])


def test_a_state_that_names_no_session_is_404(connecting: Tenant) -> None:
    for query in (
        "",
        "code=x",
        "state=&code=x",
        "state=%00&code=x",
        f"state={'0' * 32}&code=x",
        f"state={'0' * 32}{'x' * 43}&code=x",
        f"state={'x' * 10_000}&code=x",
        "state[]=x",
        "state=%ff",
    ):
        assert (query, a_browser().get(f"{PATH}?{query}").status_code) == (query, 404)


def test_without_the_browser_s_cookie_a_callback_is_refused_and_uses_nothing_up(
    connecting: Tenant, customer: Customer
) -> None:
    session, dialog = at_the_provider(connecting, customer)
    back, before = customer.consent(dialog), everything(session)
    thief = Customer(customer.sandbox)
    assert thief.open(back).status_code == 403
    thief.open(link_of(a_session(connecting)))
    thief.press_continue()
    assert thief.open(back).status_code == 403
    assert everything(session) == before
    assert exchanges(customer) == 0
    customer.open(back)
    assert len(customer.accounts()) == 2


def test_a_forged_state_of_a_known_session_changes_nothing(connecting: Tenant, customer: Customer) -> None:
    session, dialog = at_the_provider(connecting, customer)
    before = everything(session)
    forged = state_in(dialog)[:32] + "x" * 43
    for query in ({"code": "x"}, {"error": "access_denied"}):
        answer = customer.browser.get(f"{PATH}?{urlencode({'state': forged, **query})}")
        assert (answer.status_code, answer["Location"]) == (303, f"/connect/s/{session.uuid}")
    assert everything(session) == before
    assert exchanges(customer) == 0


@pytest.mark.parametrize("name", ["code", "state", "error"])
def test_a_word_that_comes_twice_counts_as_not_sent(connecting: Tenant, customer: Customer, name: str) -> None:
    session, dialog = at_the_provider(connecting, customer)
    query = {"state": state_in(dialog), "code": "x", "error": "access_denied"}
    answer = customer.browser.get(f"{PATH}?{urlencode(query)}&{urlencode({name: query[name]})}")
    if name == "state":
        assert answer.status_code == 404
        assert outcome(session)[0] == "authorizing"
    else:
        assert outcome(session)[0] == {"code": "cancelled", "error": "failed"}[name]
    assert exchanges(customer) == (1 if name == "error" else 0)


ANSWERS: tuple[tuple[dict[str, str], tuple[str, str]], ...] = (
    ({}, ("failed", "token_exchange_failed")),
    ({"code": ""}, ("failed", "token_exchange_failed")),
    ({"code": "nobody's"}, ("failed", "token_exchange_failed")),
    ({"code": "x" * 8_000}, ("failed", "token_exchange_failed")),
    ({"error": "server_error"}, ("failed", "token_exchange_failed")),
    ({"error_code": "1349126", "error_message": "App not active"}, ("failed", "token_exchange_failed")),
    (
        {"error": "access_denied", "error_description": "<script>alert(1)</script>"},
        ("cancelled", "authorization_not_completed"),
    ),
)


def test_each_answer_ends_as_decided(connecting: Tenant, customer: Customer) -> None:
    for query, end in ANSWERS:
        session, dialog = at_the_provider(connecting, customer)
        customer.open(f"{PATH}?{urlencode({'state': state_in(dialog), **query})}")
        assert outcome(session) == end, query
        assert b"<script" not in customer.page.content, query
    assert not Channel.objects.exists()


FAILURES = {
    "code_used": "token_exchange_failed",
    "500": "provider_unavailable",
    "garbage": "provider_unavailable",
    "odd_expires_in": "token_exchange_failed",
    "without_token": "token_exchange_failed",
    "close": "provider_unavailable",
}


def test_each_failure_of_the_exchange_ends_as_decided_and_keeps_no_token(
    connecting: Tenant, customer: Customer
) -> None:
    for number, (fault, code) in enumerate(FAILURES.items(), 1):
        session, dialog = at_the_provider(connecting, customer)
        customer.open(customer.consent(dialog, faults=[{"call": "exchange", "fault": fault}]))
        assert outcome(session) == ("failed", code), fault
        assert everything(session)["grant"] is None, fault
        assert exchanges(customer) == number, fault


def test_the_same_callback_again_finds_what_the_first_has_done(connecting: Tenant, customer: Customer) -> None:
    session, dialog = at_the_provider(connecting, customer)
    back = customer.consent(dialog)
    customer.open(back)
    customer.open(back)
    assert len(customer.accounts()) == 2
    assert exchanges(customer) == 1
    assert outcome(session)[0] == "selecting"


def end_by_agency(tenant: Tenant, session: ConnectSession) -> None:
    cancel_session(session=session, now=now(), by=SYSTEM)


def end_by_time(tenant: Tenant, session: ConnectSession) -> None:
    ConnectSession.objects.filter(pk=session.pk).update(expires_at=now() - timedelta(seconds=1))


@pytest.mark.parametrize(
    ("end", "status", "shown"), [(end_by_agency, "cancelled", ""), (end_by_time, "expired", "The link has expired")]
)
def test_a_late_callback_leads_back_and_first_shows_what_is_to_be_read(
    connecting: Tenant, customer: Customer, end: Callable[[Tenant, ConnectSession], None], status: str, shown: str
) -> None:
    session, dialog = at_the_provider(connecting, customer)
    back = customer.consent(dialog)
    end(connecting, session)
    customer.open(back)
    assert outcome(session)[0] == status
    assert customer.page.status_code == (200 if shown else 303)
    assert shown in customer.shown_text
    assert (customer.return_link or "").startswith(session.return_url)
    assert exchanges(customer) == 0
    assert connection_events(connecting) == [f"channel.connection.{status}"]


def test_looking_at_the_callback_without_taking_it_uses_nothing_up(connecting: Tenant, customer: Customer) -> None:
    session, dialog = at_the_provider(connecting, customer)
    back, before = customer.consent(dialog), everything(session)
    head = customer.browser.head(local(back))
    assert (head.status_code, head.content) == (200, b"")
    assert everything(session) == before
    assert Client().post(local(back)).status_code == 405


def test_an_agency_s_cancel_while_the_accounts_are_listed_wins(connecting: Tenant, customer: Customer) -> None:
    session, dialog = at_the_provider(connecting, customer)
    customer.open(customer.consent(dialog))
    page = customer.page
    connecting.api.post(f"{path_of(connecting)}/{session.uuid}/cancel")
    customer.page = page
    customer.select()
    assert outcome(session) == ("cancelled", None)
    assert (customer.return_link or "").startswith(session.return_url)
    assert not Channel.objects.exists()


def test_when_many_are_at_the_provider_the_page_tries_again_by_itself(connecting: Tenant, customer: Customer) -> None:
    session, dialog = at_the_provider(connecting, customer)
    back = customer.consent(dialog)
    slots = [PROVIDER_CALLS.slot() for _ in range(MOST_AT_ONCE)]
    assert [slot.__enter__() for slot in slots] == [True] * MOST_AT_ONCE
    try:
        busy = customer.browser.get(local(back))
        assert (busy.status_code, busy["Refresh"]) == (503, "2")
        assert outcome(session)[0] == "authorizing"
    finally:
        for slot in slots:
            slot.__exit__(None, None, None)
    customer.open(back)
    slots = [PROVIDER_CALLS.slot() for _ in range(MOST_AT_ONCE)]
    assert [slot.__enter__() for slot in slots] == [True] * MOST_AT_ONCE
    try:
        answer = customer.press("/choose", account=customer.accounts()[0])
        assert answer.status_code == 503
        assert b"Press Connect again" in answer.content
    finally:
        for slot in slots:
            slot.__exit__(None, None, None)
    customer.select()
    assert outcome(session) == ("connected", None)


def test_while_another_tab_lists_the_accounts_the_page_looks_again(connecting: Tenant, customer: Customer) -> None:
    """The state is used up and the accounts are not there yet: that is what the second tab finds."""
    session, dialog = at_the_provider(connecting, customer)
    ConnectSession.objects.filter(pk=session.pk).update(state_digest=None)
    customer.open(customer.consent(dialog))
    assert (customer.page.status_code, customer.page["Refresh"]) == (200, "2")
    assert "One moment" in customer.shown_text
    customer.open(customer.consent(customer.press_continue()))
    assert len(customer.accounts()) == 2


# At once ----------------------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_two_browsers_press_continue_at_once_and_one_wins(meta: Any) -> None:
    tenant = switch_on(Tenant())
    session = a_session(tenant)
    people = [Customer(meta) for _ in range(6)]
    for person in people:
        person.open(link_of(session))
    answers = at_once(lambda number: people[number].press("/continue"), times=6)
    statuses = sorted(answer.status_code for answer in answers)
    assert statuses == [303, 403, 403, 403, 403, 403]
    winner = next(person for person, answer in zip(people, answers, strict=True) if answer.status_code == 303)
    dialog = next(answer["Location"] for answer in answers if answer.status_code == 303)
    winner.open(winner.consent(dialog))
    winner.select()
    assert outcome(session) == ("connected", None)


@pytest.mark.django_db(transaction=True)
def test_the_same_code_at_once_is_exchanged_once_and_makes_one_channel(meta: Any) -> None:
    tenant, customer = switch_on(Tenant()), Customer(meta)
    session, dialog = at_the_provider(tenant, customer)
    back = local(customer.consent(dialog))
    answers = at_once(lambda _: customer.browser.get(back).status_code, times=4)
    assert set(answers) <= {303, 503}
    assert exchanges(customer) == 1
    customer.open(f"/connect/s/{session.uuid}")
    page, account = customer.page, customer.accounts()[0]
    assert page
    at_once(lambda _: customer.press("/choose", account=account), times=4)
    assert outcome(session) == ("connected", None)
    assert Channel.objects.count() == 1
    assert connection_events(tenant) == ["channel.connection.completed"]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("same_sub_account", [True, False])
def test_two_sessions_that_choose_the_same_number_at_once_give_one_channel(meta: Any, same_sub_account: bool) -> None:
    first = switch_on(Tenant())
    second = first if same_sub_account else switch_on(Tenant())
    people = [Customer(meta), Customer(meta)]
    sessions = [a_session(tenant) for tenant in (first, second)]
    for person, session in zip(people, sessions, strict=True):
        person.authorize(session)
    number = people[0].accounts()[0]
    at_once(lambda one: people[one].press("/choose", account=number), times=2)
    assert Channel.objects.count() == 1
    ends = sorted(str(outcome(session)) for session in sessions)
    lost = "('connected', None)" if same_sub_account else "('failed', 'account_already_connected_elsewhere')"
    assert ends == ["('connected', None)", lost]
    names = connection_events(first) + ([] if same_sub_account else connection_events(second))
    assert len(names) == 2


@pytest.mark.django_db(transaction=True)
def test_a_rival_that_gets_in_between_two_looks_at_the_channels_wins(meta: Any) -> None:
    """The slower one's choice stops after so many of its reads, the other one's goes through, then it goes on."""
    mine, theirs = switch_on(Tenant()), switch_on(Tenant())
    slow, rival = Customer(meta), Customer(meta)
    for looks in range(1, 7):
        sessions = [a_session(mine), a_session(theirs)]
        for person, session in zip((slow, rival), sessions, strict=True):
            person.authorize(session)
        number = slow.accounts()[0]
        answer = choose_with_a_rival(slow, rival, number, looks)
        assert answer.status_code == 303
        assert [channel.external_id for channel in Channel.objects.all()] == [number]
        assert (looks, sorted(map(str, map(outcome, sessions)))) == (
            looks,
            ["('connected', None)", "('failed', 'account_already_connected_elsewhere')"],
        )
        ConnectSession.objects.all().delete()
        Channel.objects.all().delete()


def choose_with_a_rival(slow: Customer, rival: Customer, number: str, looks: int) -> Any:
    """Have the rival choose the number after so many of the slower one's reads, or else after its choice."""
    seen: list[str] = []

    def let_in(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        answer = execute(sql, params, many, context)
        if 'FROM "subaccounts_channel"' in sql or 'INTO "subaccounts_channel"' in sql:
            seen.append(sql)
            if len(seen) == looks and not any("INTO" in one for one in seen):
                with ThreadPoolExecutor(1) as pool:
                    pool.submit(choose_there).result(PATIENCE_SECONDS)
        return answer

    def choose_there() -> None:
        try:
            rival.press("/choose", account=number)
        finally:
            connections.close_all()

    with connection.execute_wrapper(let_in):
        answer = slow.press("/choose", account=number)
    rival.press("/choose", account=number)
    return answer


@pytest.mark.django_db(transaction=True)
def test_the_last_room_of_a_plan_is_given_once(meta: Any) -> None:
    tenant = switch_on(Tenant())
    plan = PlanFactory.create(agency=tenant.agency, limits=plan_limits(channels__whatsapp=1))
    assign_plan(workspace=tenant.workspace, plan=plan, now=now(), by=SYSTEM)
    people, sessions = [Customer(meta), Customer(meta)], [a_session(tenant), a_session(tenant)]
    for person, session in zip(people, sessions, strict=True):
        person.authorize(session)
    numbers = people[0].accounts()
    at_once(lambda one: people[one].press("/choose", account=numbers[one]), times=2)
    assert Channel.objects.count() == 1
    ends = sorted(str(outcome(session)) for session in sessions)
    assert ends == ["('connected', None)", "('failed', 'channel_limit_reached')"]
