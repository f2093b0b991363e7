"""E-mails about notifications: few at once, the others once a day, and only to whoever may still see it."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.core import mail as outbox
from django.db import transaction
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import Agency, Mail, Member, Notification, NotificationPreference, TwoFactor, User
from agency.models.notifications import DeliveryMethod
from agency.services import suspend_agency
from agency.services.notifications import delivery
from agency.services.notifications.delivery import MOST_AT_ONCE, MOST_LINES, fan_out_next_event, next_digest
from agency.services.notifications.recording import record_notification
from agency.tasks import send_mail, tell_people
from agency.tenants import Tenant as Whose
from tests import furnished
from tests.agency.console.browsers import a_member
from tests.factories import DomainFactory
from tests.tenants import Tenant
from workspaces.subaccounts.services import tenant_of

a = furnished.a_with_customer

pytestmark = pytest.mark.django_db
KIND = "channel.lost"


@pytest.fixture
def reader(a: Tenant) -> User:
    return a_member(a.agency, "admin").user


def lose(tenant: Tenant, *, number: int = 1) -> None:
    with transaction.atomic():
        for _ in range(number):
            record_notification(
                tenant=Whose(tenant.agency.pk),
                kind=KIND,
                key=str(uuid4()),
                object_id=str(tenant.workspace.uuid),
                data={"channel": "Front desk", "workspace": "Corner Salon"},
                now=now(),
            )


def choose(user: User, tenant: Tenant, way: DeliveryMethod) -> None:
    NotificationPreference.objects.update_or_create(
        user=user, area=tenant.agency.uuid, kind=KIND, defaults={"way": way}
    )


def mails(kind: str = "notification") -> list[Mail]:
    return list(Mail.objects.filter(kind=kind).order_by("id"))


def sent() -> Any:
    """The one e-mail about notifications that leaves."""
    Mail.objects.exclude(kind__startswith="notification").delete()
    send_mail()
    [message] = outbox.outbox
    return message


def morning() -> None:
    """The digests of all are due."""
    Notification.objects.filter(mail_due_at__isnull=False).update(mail_due_at=now() - timedelta(minutes=1))
    tell_people()


def test_an_e_mail_says_what_happened_in_the_reader_s_language_and_leads_there(a: Tenant, reader: User) -> None:
    host = DomainFactory.create(agency=a.agency).host
    lose(a)
    tell_people()
    message = sent()
    assert message.to == [reader.email]
    assert message.subject == "Something needs your attention"
    assert "Front desk of Corner Salon is disconnected" in message.body
    assert f"://{host}/console/sub-accounts/{a.workspace.uuid}" in message.body
    assert a.agency.name in message.from_email
    tell_people()
    assert len(mails()) == 1


def test_at_most_six_leave_in_an_hour_and_the_others_are_in_the_digest(a: Tenant, reader: User) -> None:
    lose(a, number=MOST_AT_ONCE + 3)
    tell_people()
    assert len(mails()) == MOST_AT_ONCE
    assert not mails("notification_digest")
    morning()
    [digest] = mails("notification_digest")
    assert len(digest.context["lines"]) == 3
    morning()
    assert len(mails("notification_digest")) == 1
    assert not Notification.objects.filter(mail_due_at__isnull=False).exists()


def test_a_digest_names_so_many_and_counts_the_others(a: Tenant, reader: User) -> None:
    choose(reader, a, DeliveryMethod.DIGEST)
    lose(a, number=MOST_LINES + 5)
    tell_people()
    assert not mails()
    assert not mails("notification_digest")
    morning()
    message = sent()
    assert message.body.count("• Front desk") == MOST_LINES
    assert "… and 5 more." in message.body
    assert "/console/notifications" in message.body


def take_role(user: User, tenant: Tenant) -> None:
    Member.objects.filter(user=user, agency=tenant.agency).delete()


def ask_for_two_factor(user: User, tenant: Tenant) -> None:
    Agency.objects.filter(pk=tenant.agency.pk).update(two_factor_roles=["admin"])


def close(user: User, tenant: Tenant) -> None:
    suspend_agency(agency=tenant.agency, reason="", now=now(), by=SYSTEM)


def leave(user: User, tenant: Tenant) -> None:
    User.objects.filter(pk=user.pk).update(is_active=False)


def read(user: User, tenant: Tenant) -> None:
    Notification.objects.update(read_at=now())


def want_none(user: User, tenant: Tenant) -> None:
    choose(user, tenant, DeliveryMethod.CONSOLE)


@pytest.mark.parametrize("way", [DeliveryMethod.AT_ONCE, DeliveryMethod.DIGEST])
@pytest.mark.parametrize("change", [take_role, ask_for_two_factor, close, leave, read, want_none])
def test_who_may_not_see_it_any_more_gets_no_e_mail(change: Any, way: DeliveryMethod, a: Tenant, reader: User) -> None:
    choose(reader, a, way)
    lose(a)
    assert fan_out_next_event()
    change(reader, a)
    morning()
    assert not Mail.objects.filter(kind__startswith="notification").exists()
    assert not Notification.objects.filter(mail_due_at__isnull=False).exists()


def test_whoever_uses_two_factor_where_it_is_asked_for_gets_theirs(a: Tenant, reader: User) -> None:
    ask_for_two_factor(reader, a)
    TwoFactor.objects.create(user=reader, secret="x", confirmed_at=now())
    lose(a)
    tell_people()
    assert len(mails()) == 1


def test_the_people_of_a_workspace_read_which_one_it_is(a: Tenant) -> None:
    with transaction.atomic():
        record_notification(
            tenant=tenant_of(a.workspace),
            kind="workspace.channel_lost",
            key="1",
            data={"channel": "Front desk", "workspace": a.workspace.name},
            now=now(),
        )
    tell_people()
    message = sent()
    assert message.to == [a.workspace.owner.email]
    assert f"{a.workspace.name}: Front desk is disconnected." in message.body


def test_the_day_s_e_mail_is_due_at_eight_by_the_reader_s_clock() -> None:
    noon = datetime(2026, 3, 28, 12, tzinfo=UTC)
    assert next_digest("", noon) == datetime(2026, 3, 29, 8, tzinfo=UTC)
    assert next_digest("Europe/Berlin", noon) == datetime(2026, 3, 29, 6, tzinfo=UTC)  # summer time begins that night
    assert next_digest("America/New_York", datetime(2026, 3, 28, 11, tzinfo=UTC)) == noon
    assert next_digest("Nowhere/Else", noon) == next_digest("UTC", noon)


class Killed(BaseException):
    """The process dies."""


@pytest.mark.parametrize("place", ["queue_mail", "_count_of_hour", "_line"])
def test_a_crash_before_the_end_of_a_transaction_loses_nothing_and_tells_nothing_twice(
    place: str, a: Tenant, reader: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is done until then goes with the transaction; the next run does all of it."""
    lose(a)
    really = getattr(delivery, place)

    def die(*values: Any, **options: Any) -> None:
        really(*values, **options)
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(delivery, place, die)
        with pytest.raises(Killed):
            tell_people()
    assert not mails()
    tell_people()
    tell_people()
    assert len(mails()) == 1


def test_a_thousand_people_are_notified_in_batches_and_a_crash_notifies_nobody_twice(
    a: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    users = User.objects.bulk_create([User(email=f"p{number}@example.com") for number in range(7)])
    Member.objects.bulk_create([Member(agency=a.agency, user=user, role="admin") for user in users])
    monkeypatch.setattr("agency.services.notifications.delivery.BATCH", 3)
    lose(a)
    assert fan_out_next_event()
    assert Notification.objects.count() == 3
    while fan_out_next_event():
        pass
    assert Notification.objects.values("user").distinct().count() == Notification.objects.count() == 7
