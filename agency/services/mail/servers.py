"""Failures of agencies' own servers: after several in a row the installation's server stands in for a while."""

import re
from datetime import datetime, timedelta
from typing import Final

from django.db.models import F

from agency.models import Mail, MailSettings
from agency.services.mail.failures import NO_FAILURE, Failure

FAILURES_BEFORE_REST: Final = 3
REFUSED_BEFORE_FAILURE: Final = 3
MOST_LOOKED_AT: Final = 20
OF_POLICY = re.compile(r"5\.7\.\d+\b")
REST: Final = timedelta(minutes=15)


def refuses_everybody(server: MailSettings, mail: Mail, failure: Failure) -> bool:
    """Return whether an agency's server that refuses a recipient refuses all: it says so, or this is the third one.

    It says so with a status of policy (5.7.x, RFC 3463). Otherwise three recipients count that were refused for good
    since the last e-mail that the server accepted.
    """
    if failure.kind != Mail.Failure.RECIPIENT:
        return False
    if OF_POLICY.match(failure.text):
        return True
    own = Mail.objects.filter(agency=server.agency_id, by_own_server=True)
    since = own.filter(sent_at__gt=server.verified_at).order_by("-sent_at").values_list("sent_at", flat=True).first()
    refused = own.filter(sent_at=None, failure=failure.kind, failed_at__gt=since or server.verified_at)
    others = refused.exclude(recipient=mail.recipient).order_by("-failed_at").values_list("recipient", flat=True)
    return len(set(others[:MOST_LOOKED_AT])) >= REFUSED_BEFORE_FAILURE - 1


def record_server_failure(server: MailSettings, failure: Failure, now: datetime) -> bool:
    """Count a failure that would have met any other e-mail too; return whether the server rests from now on.

    A failure of settings that were changed meanwhile is not counted.
    """
    rows = MailSettings.objects.filter(pk=server.pk, verified_at=server.verified_at)
    if not rows.update(failures=F("failures") + 1, failed_at=now, **failure.columns()):
        return False
    return bool(rows.filter(failures__gte=FAILURES_BEFORE_REST).update(resting_until=now + REST))


def record_server_success(server: MailSettings) -> None:
    """Reset the failures of a server that accepts e-mails again."""
    if server.failures:
        MailSettings.objects.filter(pk=server.pk, verified_at=server.verified_at).update(
            failures=0, resting_until=None, **NO_FAILURE
        )
