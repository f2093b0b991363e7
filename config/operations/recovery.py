"""After a restore or a fail-over that lost something: what may have been sent is not sent again by itself."""

from typing import Final, NamedTuple

from django.db import connection

from broadcasts.services.moving import SWEEP
from broadcasts.services.recovery import add_restore_warning, pause_after_restore, require_approval_after_restore
from channelconnect.sending.allowance import fill_allowances
from config.celery import wake_up
from config.db import database_now
from config.recovery.identity import confirm, is_confirmed, last_confirmed
from workspaces.automations.services.recovery import stop_after_restore
from workspaces.automations.services.trigger_events import ENGINE
from workspaces.conversations.services.send_results import fail_queued_messages
from workspaces.conversations.services.sending import SENDER

# Uses of an allowance that the database has forgotten end within this time.
FULL_HOURS: Final = 24


class HeldBack(NamedTuple):
    """Counts of what may have been sent already."""

    broadcasts: int
    recipients: int
    paused: int
    scheduled: int
    messages: int
    allowances: int
    facts: int
    runs: int


def is_to_be_confirmed() -> bool:
    """Return whether the workers wait for somebody who says what became of the database."""
    with connection.cursor() as cursor:
        return not is_confirmed(cursor)


def confirm_database() -> None:
    """Let the workers go on with the database as it is."""
    with connection.cursor() as cursor:
        confirm(cursor)
    for name in (SENDER, SWEEP, ENGINE):
        wake_up(name)


def hold_back_possibly_sent() -> HeldBack:
    """Hold back all that may have been sent, and tell the people concerned. If it breaks off, run it again.

    The workers claim nothing meanwhile. Each step is a separate transaction, and finds what an earlier run has left.
    """
    now = database_now()
    allowances = fill_allowances(hours=FULL_HOURS)
    scheduled = require_approval_after_restore(now=now)
    broadcasts, recipients = pause_after_restore(now=now)
    paused = add_restore_warning(now=now)
    with connection.cursor() as cursor:
        restore = last_confirmed(cursor)
    messages = fail_queued_messages(restore=f"{restore or now:%Y-%m-%dT%H:%M:%S.%f}", now=now)
    automations = stop_after_restore(now=now)
    return HeldBack(broadcasts, recipients, paused, scheduled, messages, allowances, *automations)
