"""Nobody is written to again and again, and no agency fills everybody's queue."""

from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.core import mail as outbox
from django.utils.timezone import now

from agency.models import Mail
from agency.services import queue_mail
from agency.services.mail.content import queue_known_address
from agency.tasks import send_mail
from tests.agency.invitations import invited
from tests.factories import UserFactory
from tests.tenants import Tenant, a_new_customer

pytestmark = pytest.mark.django_db


def test_an_agency_writes_five_invitations_a_day_to_one_address(a: Tenant, b: Tenant) -> None:
    owner = {"name": "Ada", "email": "ada@example.com"}
    for _ in range(8):
        assert a.api.post("/workspaces", a_new_customer(owner=owner)).status_code == 201
    send_mail()
    assert len(outbox.outbox) == 5
    assert Mail.objects.filter(given_up_at__isnull=False).count() == 3
    invited(b.agency, "ada@example.com")
    send_mail()
    assert len(outbox.outbox) == 6
    with time_machine.travel(now() + timedelta(days=1, minutes=1)):
        a.api.post("/workspaces", a_new_customer(owner=owner))
        Mail.objects.filter(sent_at=None).update(next_attempt_at=now() - timedelta(days=2))
        Mail.objects.filter(sent_at__isnull=False).update(sent_at=now() - timedelta(days=3))
        send_mail()
    assert len(outbox.outbox) == 7


def test_all_agencies_together_write_twenty(a: Tenant) -> None:
    tenants = [a, *(Tenant() for _ in range(6))]
    for tenant in tenants:
        for number in range(4):
            invited(tenant.agency, "ada@example.com") if number == 0 else tenant.api.post(
                "/workspaces", a_new_customer(owner={"name": "Ada", "email": "ada@example.com"})
            )
    send_mail()
    assert len(outbox.outbox) == 20


def test_links_to_set_a_password_are_counted_apart(a: Tenant) -> None:
    user = UserFactory.create(email="ada@example.com")
    for _ in range(6):
        queue_mail(kind=Mail.Kind.OWNER_INVITATION, user=user, agency=a.agency, context={})
    for _ in range(32):
        queue_mail(kind=Mail.Kind.PASSWORD_RESET, user=user, context={})
    send_mail()
    subjects = [str(sent.subject) for sent in outbox.outbox]
    assert subjects.count("Set a new password") == 30
    assert len(subjects) == 35


def test_what_is_too_many_for_an_agency_s_hour_waits_and_holds_up_no_other(a: Tenant, b: Tenant, settings: Any) -> None:
    settings.AGENCY_MAIL_LIMIT = 3
    for number in range(5):
        invited(a.agency, f"person-{number}@example.com")
    invited(b.agency, "other@example.com")
    send_mail()
    assert sorted(sent.to[0] for sent in outbox.outbox) == [
        "other@example.com",
        *(f"person-{number}@example.com" for number in range(3)),
    ]
    waiting = Mail.objects.filter(sent_at=None)
    assert [(mail.attempts, mail.given_up_at) for mail in waiting] == [(0, None)] * 2
    assert all(timedelta(minutes=59) < mail.next_attempt_at - now() < timedelta(minutes=61) for mail in waiting)
    Mail.objects.filter(sent_at__isnull=False).update(sent_at=now() - timedelta(hours=2))
    waiting.update(next_attempt_at=now() - timedelta(minutes=1))
    send_mail()
    assert len(outbox.outbox) == 6


def test_strangers_and_people_s_own_affairs_leave_an_agency_s_hour_alone(a: Tenant, settings: Any) -> None:
    """Sign-ups have a fifth, which strangers may use up; links to set a password and notices wait for nothing."""
    settings.AGENCY_MAIL_LIMIT = 10
    for number in range(4):
        user = UserFactory.create(email=f"stranger-{number}@example.com")
        queue_known_address(user=user, agency=a.agency, may_add=False)
    for number in range(12):
        invited(a.agency, f"invited-{number}@example.com")
        user = UserFactory.create(email=f"reset-{number}@example.com")
        queue_mail(kind=Mail.Kind.PASSWORD_RESET, user=user, agency=a.agency, context={})
    send_mail()
    told = Counter(sent.to[0].partition("-")[0] for sent in outbox.outbox)
    assert told == {"stranger": 2, "invited": 10, "reset": 12}
    assert Mail.objects.filter(sent_at=None, given_up_at=None).count() == 4


def test_an_agency_s_links_to_set_a_password_are_so_many_an_hour_and_one_more_for_each_person(
    a: Tenant, b: Tenant, settings: Any
) -> None:
    settings.AGENCY_MAIL_LIMIT = 3
    asked_often, other = UserFactory.create(), UserFactory.create()
    for user, agency, size in ((asked_often, a.agency, 5), (other, a.agency, 2), (asked_often, b.agency, 1)):
        for _ in range(size):
            queue_mail(kind=Mail.Kind.PASSWORD_RESET, user=user, agency=agency, context={})
    invited(a.agency, "invited@example.com")
    send_mail()
    told = Counter((sent.to[0], sent.from_email.partition(" <")[0]) for sent in outbox.outbox)
    of_a = [told[user.email, a.agency.name] for user in (asked_often, other)]
    assert sum(of_a) in (3, 4)
    assert all(of_a)  # somebody's first link within an hour leaves whatever others have asked for
    assert told["invited@example.com", a.agency.name] == 1
    waiting = Mail.objects.filter(sent_at=None)
    assert {(mail.kind, mail.agency, mail.given_up_at) for mail in waiting} == {("password_reset", a.agency, None)}
    assert all(mail.next_attempt_at > now() + timedelta(minutes=59) for mail in waiting)
    Mail.objects.filter(sent_at__isnull=False).update(sent_at=now() - timedelta(hours=2))
    waiting.update(next_attempt_at=now())
    send_mail()
    assert Mail.objects.filter(sent_at__gt=now() - timedelta(hours=1)).count() == 3
