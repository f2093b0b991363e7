"""The queue of e-mails: leased, sent once, tried again, given up at last."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.core import mail as outbox
from django.db import transaction
from django.template.loader import get_template
from django.utils.timezone import now

from agency.models import Mail
from agency.services import lease_next_mail, queue_mail, send_due_mail
from agency.services.mail.content import template_of
from agency.services.mail.queue import ATTEMPTS
from agency.tasks import send_mail
from tests.factories import UserFactory
from tests.parallel import at_once

pytestmark = pytest.mark.django_db
INVITATION = {"agency": "Bright", "workspace": "Corner Salon"}


@pytest.fixture
def queued() -> Mail:
    mail = queue_mail(kind=Mail.Kind.OWNER_INVITATION, user=UserFactory.create(name="Ada"), context=INVITATION)
    mail.refresh_from_db()  # its times are the database's
    return mail


@pytest.fixture
def _no_server(settings: Any) -> None:
    """A mail server that refuses connections."""
    settings.EMAIL_BACKEND = "config.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 1


def test_the_task_sends_what_is_due_and_each_mail_once(queued: Mail) -> None:
    send_mail()
    send_mail()
    (sent,) = outbox.outbox
    assert sent.to == [queued.recipient]
    assert "\n" not in sent.subject
    assert Mail.objects.get().sent_at is not None


def test_a_leased_mail_is_nobody_else_s_for_two_minutes(queued: Mail) -> None:
    moment = now()
    assert lease_next_mail(now=moment) == queued
    assert lease_next_mail(now=moment + timedelta(seconds=119)) is None
    assert lease_next_mail(now=moment + timedelta(seconds=121)) == queued


def test_a_mail_that_is_not_due_yet_waits(queued: Mail) -> None:
    assert lease_next_mail(now=queued.next_attempt_at - timedelta(seconds=1)) is None


@pytest.mark.usefixtures("_no_server")
def test_a_mail_is_tried_again_and_given_up_after_twelve_tries(queued: Mail) -> None:
    moment, waits = now(), []
    for _ in range(ATTEMPTS):
        mail = lease_next_mail(now=moment)
        assert mail is not None
        assert not send_due_mail(mail=mail, now=moment)
        later = Mail.objects.get().next_attempt_at
        waits.append(later - moment)
        moment = later
    assert waits == sorted(waits)
    assert (waits[0], waits[-1]) == (timedelta(seconds=20), timedelta(hours=1))
    assert Mail.objects.get().given_up_at is not None
    assert lease_next_mail(now=moment + timedelta(days=1)) is None


def test_a_mail_that_kills_its_sender_each_time_is_left_alone_after_twelve_tries(queued: Mail) -> None:
    moment = now()
    for _ in range(ATTEMPTS):
        assert lease_next_mail(now=moment) is not None
        moment += timedelta(hours=1)
    Mail.objects.update(next_attempt_at=now())
    send_mail()
    mail = Mail.objects.get()
    assert (mail.failure, mail.given_up_at is not None, outbox.outbox) == (Mail.Failure.INTERRUPTED, True, [])
    assert lease_next_mail(now=moment) is None


def test_what_people_wait_for_leaves_before_invitations(queued: Mail) -> None:
    for kind in (Mail.Kind.OWNER_INVITATION, Mail.Kind.PASSWORD_RESET, Mail.Kind.TWO_FACTOR_CHANGED):
        queue_mail(kind=kind, user=UserFactory.create(), context={})
    moment, order = now() + timedelta(seconds=1), []
    while mail := lease_next_mail(now=moment):
        order.append(mail.kind)
    assert order == ["password_reset", "two_factor_changed", "owner_invitation", "owner_invitation"]


@pytest.mark.usefixtures("_no_server")
def test_a_failure_is_logged_without_the_address(queued: Mail, caplog: pytest.LogCaptureFixture) -> None:
    send_mail()
    (record,) = [record for record in caplog.records if record.getMessage() == "mail not sent"]
    assert queued.recipient not in str(vars(record))


def test_a_name_with_line_breaks_makes_no_second_header(db: None) -> None:
    context = {"agency": "Bright\r\nBcc: all@example.com", "workspace": "Shop"}
    queue_mail(kind=Mail.Kind.OWNER_INVITATION, user=UserFactory.create(), context=context)
    send_mail()
    assert outbox.outbox[0].bcc == []
    assert outbox.outbox[0].subject == "Your workspace is ready: set your password"


@pytest.mark.django_db(transaction=True)
def test_two_workers_never_take_the_same_mail() -> None:
    user = UserFactory.create()
    for _ in range(8):
        queue_mail(kind=Mail.Kind.OWNER_INVITATION, user=user, context=INVITATION)
    moment = now() + timedelta(seconds=1)

    def take_all(_: int) -> list[int]:
        taken = []
        while mail := lease_next_mail(now=moment):
            taken.append(mail.pk)
        return taken

    taken = [pk for share in at_once(take_all, times=4) for pk in share]
    assert len(taken) == len(set(taken)) == 8


@pytest.mark.django_db(transaction=True)
def test_a_mail_in_another_worker_s_hands_holds_up_no_other() -> None:
    user = UserFactory.create()
    first, second = (queue_mail(kind=Mail.Kind.OWNER_INVITATION, user=user, context=INVITATION) for _ in range(2))
    with transaction.atomic():
        Mail.objects.select_for_update().get(pk=first.pk)
        assert at_once(lambda _: lease_next_mail(now=now()), times=1) == [second]


def test_a_mail_names_itself_in_lists(queued: Mail) -> None:
    assert str(queued) == f"owner_invitation to {queued.user_id}"
    assert isinstance(queued.created_at, datetime)


@pytest.mark.parametrize("kind", Mail.Kind.values)
def test_a_subject_is_the_same_for_everybody_and_a_text_is_not(kind: str) -> None:
    assert "{{" not in get_template(template_of(kind, part="subjects/")).template.source  # type: ignore[attr-defined]  # Django's own
    assert "{{ link }}" in get_template(template_of(kind)).template.source  # type: ignore[attr-defined]  # Django's own
