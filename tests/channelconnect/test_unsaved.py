"""What was subscribed for a choice that was not saved, whatever the reason, is taken back."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.utils.timezone import now

from agency.actors import SYSTEM
from channelconnect.models import Unsubscription
from channelconnect.services.sessions.ending import end_session
from channelconnect.tasks import unsubscribe
from tests import furnished
from tests.admin.conftest import person, sign_in, superuser, support
from tests.channelconnect.agencies import a_session, switch_on
from tests.channelconnect.customer import Customer, outcome
from tests.channelconnect.test_disconnecting import BUSINESS, FIRST_NUMBER, calls, connected, ends, let_them_be_due
from tests.channelconnect.test_disconnecting import subscribed as taken
from tests.processes.own_processes import start, variables
from tests.processes.starting import kill
from tests.tenants import Tenant
from tests.waiting import until
from tools.sandbox import RunningSandbox
from workspaces.subaccounts.models import Channel

pytestmark = pytest.mark.slow

a = furnished.a_with_customer

__all__ = ["person", "sign_in", "superuser", "support"]
CHOOSE = """
import os, django
django.setup()
from agency.actors import SYSTEM
from channelconnect.models import ConnectSession
from channelconnect.services.sessions.flow import select_account
from config.db import database_now
[session] = ConnectSession.objects.select_related("agency", "workspace")
browser = os.environ["BROWSER"]
select_account(session=session, browser=browser, external_id="4010000", now=database_now(), by=SYSTEM)
"""


def test_a_registration_that_is_refused_takes_the_subscription_back(connecting: Tenant, customer: Customer) -> None:
    session = a_session(connecting)
    customer.connect(session, "pinned")
    assert outcome(session) == ("failed", "subscription_failed")
    assert taken(customer)
    unsubscribe()
    assert taken(customer) == set()
    assert ends() == [("not_saved", "unsubscribed", "")]


def test_of_an_account_with_another_channel_nothing_is_taken_back(connecting: Tenant, customer: Customer) -> None:
    connected(connecting, customer, account=FIRST_NUMBER)
    session = a_session(connecting)
    customer.connect(session, faults=[{"call": "subscribe", "fault": "accept_then_500"}])
    assert outcome(session) == ("failed", "provider_unavailable")
    unsubscribe()
    assert (taken(customer), calls(customer)) == ({BUSINESS}, 0)
    assert ends() == [("not_saved", "still_used", "")]


def test_a_saved_choice_leaves_nothing_to_take_back(connecting: Tenant, customer: Customer) -> None:
    connected(connecting, customer)
    assert not Unsubscription.objects.exists()


@pytest.mark.parametrize("answered", ["accept_then_close", "503"])
def test_an_answer_that_was_lost_may_have_been_a_subscription(
    connecting: Tenant, customer: Customer, answered: str
) -> None:
    session = a_session(connecting)
    customer.connect(session, faults=[{"call": "subscribe", "fault": answered}])
    assert outcome(session) == ("failed", "provider_unavailable")
    unsubscribe()
    assert (taken(customer), calls(customer)) == (set(), 1)


def test_a_session_that_the_agency_cancels_meanwhile_leaves_nothing_behind(
    connecting: Tenant, customer: Customer
) -> None:
    session = a_session(connecting)
    customer.authorize(session)
    sent = False

    def cancel_meanwhile(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        nonlocal sent
        answer = execute(sql, params, many, context)
        if 'INTO "channelconnect_unsubscription"' in sql and not sent:
            sent = True
            end_session(session=session, status="cancelled", now=now(), by=SYSTEM)  # type: ignore[arg-type]  # its value
        return answer

    with connection.execute_wrapper(cancel_meanwhile):
        customer.select(FIRST_NUMBER)
    assert sent
    assert outcome(session) == ("cancelled", None)
    assert taken(customer) == {BUSINESS}
    assert not Channel.objects.exists()
    unsubscribe()
    assert taken(customer) == set()


def test_while_a_choice_may_still_be_saved_nothing_of_its_account_is_taken_back(
    connecting: Tenant, customer: Customer
) -> None:
    session = a_session(connecting)
    customer.connect(session, "pinned")
    first = Unsubscription.objects.get()
    choice = Unsubscription.objects.get()
    choice.token = str(choice.token)
    choice.pk, choice.uuid, choice.status = None, session.uuid, "subscribing"
    choice.due_at = now() + timedelta(minutes=5)
    choice.save(force_insert=True)
    unsubscribe()
    assert calls(customer) == 0
    first.refresh_from_db()
    assert (first.status, first.due_at > now()) == ("waiting", True)
    let_them_be_due()
    unsubscribe()
    assert [status for _, status, _ in ends()] == ["unsubscribed", "unsubscribed"]


def test_a_choice_whose_subscription_was_taken_back_is_not_saved(connecting: Tenant, customer: Customer) -> None:
    """As when a process slept for ten minutes between the provider's answer and the saving."""
    session = a_session(connecting)
    customer.authorize(session)
    slept = False

    def sleep(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        nonlocal slept
        answer = execute(sql, params, many, context)
        if 'INTO "channelconnect_unsubscription"' in sql and not slept:
            slept = True
            Unsubscription.objects.update(status="waiting")
        return answer

    with connection.execute_wrapper(sleep):
        answer = customer.press("/choose", account=FIRST_NUMBER)
    assert (slept, answer.status_code) == (True, 503)
    assert not Channel.objects.exists()
    unsubscribe()
    customer.select(FIRST_NUMBER)
    assert outcome(session) == ("connected", None)
    assert taken(customer) == {BUSINESS}


@pytest.mark.django_db(transaction=True)
def test_a_process_that_is_killed_between_subscription_and_saving(meta: RunningSandbox) -> None:
    customer = Customer(meta)
    session = a_session(switch_on(Tenant()))
    customer.authorize(session)
    meta.play(faults=[{"call": "subscribe", "fault": "accept_then_hang", "seconds": 600}])
    browser = {"BROWSER": customer.browser.cookies["connect"].value}
    process = start(["-c", CHOOSE], {**variables(), **meta.variables, **browser})
    try:
        until(lambda: taken(customer), what="the subscription")
    finally:
        kill(process)
    assert taken(customer) == {BUSINESS}
    assert outcome(session)[0] == "selecting"
    [row] = Unsubscription.objects.all()
    assert (row.status, row.connection_id, row.tries) == ("subscribing", session.uuid, 0)
    assert timedelta(minutes=9) < row.due_at - now() < timedelta(minutes=10)
    meta.play()
    unsubscribe()
    assert calls(customer) == 0
    let_them_be_due()
    unsubscribe()
    assert taken(customer) == set()
    assert ends() == [("not_saved", "unsubscribed", "")]


def test_support_sees_what_is_to_be_taken_back_without_the_token(
    support: Client, connecting: Tenant, customer: Customer
) -> None:
    customer.connect(a_session(connecting), "pinned")
    row = Unsubscription.objects.get()
    pages = "/admin/channelconnect/unsubscription/"
    for term in (row.uuid, connecting.workspace.uuid):
        assert support.get(pages, {"q": str(term), "status__exact": "waiting"}).context["cl"].result_count == 1
    assert support.get(pages, {"q": "zzz"}).context["cl"].result_count == 0
    shown = support.get(f"{pages}{row.pk}/change/").content.decode()
    assert row.container_id in shown
    assert str(row.token) not in shown
    assert support.post(f"{pages}{row.pk}/delete/", {"post": "yes"}).status_code == 403
