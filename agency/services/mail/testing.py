"""Test e-mails: requested in the console, sent by the worker like every other, and reported step by step."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any, Final

from django.db import transaction

from agency.actors import SYSTEM, Actor
from agency.models import Agency, Mail, MailSettings, User
from agency.services.mail.failures import NO_FAILURE, Failure
from agency.services.mail.queue import queue_mail
from agency.services.mail.routes import settings_of
from agency.services.mail.settings import locked_mail_settings, record_mail_activity
from config.errors import Conflict
from config.smtp import Step

TEST_PAUSE: Final = timedelta(seconds=15)
# A test that could not be sent for so long is no longer of use to anybody.
TEST_LASTS: Final = timedelta(minutes=10)


class JustTested(Conflict):
    message = "A test e-mail was asked for a moment ago. Try again in 15 seconds."


@transaction.atomic
def request_test_mail(*, agency: Agency, user: User, now: datetime, by: Actor) -> Mail:
    """Queue a test e-mail to a person, in place of an unsent earlier one. Raises `JustTested`."""
    settings = locked_mail_settings(agency)
    if settings.tested_at and settings.tested_at > now - TEST_PAUSE:
        raise JustTested
    earlier = Mail.objects.filter(agency=agency, kind=Mail.Kind.TEST, sent_at=None, given_up_at=None)
    earlier.update(given_up_at=now)
    settings.tested_at, settings.test_report = now, {"to": user.email}
    settings.save(update_fields=["tested_at", "test_report"])
    record_mail_activity(agency, "mail.test_requested", by)
    return queue_mail(kind=Mail.Kind.TEST, user=user, agency=agency, context={})


@transaction.atomic
def record_test_mail(
    *, mail: Mail, server: MailSettings | None, failure: Failure | None, steps: Iterable[Step], now: datetime
) -> None:
    """Record how each step of a test went; an agency's own server that accepted it may be used from now on.

    A test is not tried again: the person who asked for it reads the report, and may ask once more.
    """
    columns = {} if failure is None else failure.columns()
    tested = settings_of(mail)
    if tested is not None and mail.agency is not None:
        report = {"to": mail.recipient, "steps": [step.value for step in steps], **columns}
        values: dict[str, Any] = {"test_report": report, "tested_at": now}
        if server and failure is None:
            values |= {"verified_at": now, "failures": 0, "resting_until": None, **NO_FAILURE}
        # Settings that were changed meanwhile were not tested.
        MailSettings.objects.filter(pk=tested.pk, changed_at=tested.changed_at, host=tested.host).update(**values)
        record_mail_activity(mail.agency, "mail.test_sent" if failure is None else "mail.test_failed", SYSTEM)
    outcome = {"sent_at": now, **NO_FAILURE} if failure is None else {"given_up_at": now, "failed_at": now}
    Mail.objects.filter(pk=mail.pk).update(by_own_server=server is not None, **outcome, **columns)


def waits_for_test(settings: MailSettings, now: datetime) -> bool:
    """Return whether a test e-mail was requested whose report is not there yet."""
    has_no_report = bool(settings.test_report) and "steps" not in settings.test_report
    return has_no_report and settings.tested_at is not None and settings.tested_at > now - TEST_LASTS
