"""Notifies of what waits, killed at each of its statements: for `tests.processes.preloaded`.

Rows for people, e-mails at once, the day's, and their way to the server are one after another done to the end, each by
processes that are killed. With `early_mail` an e-mail is committed before the row that says so, with `early_place` the
place before the people up to it, and with `early_sent` an e-mail is recorded as sent before it is. Then only what is
broken is done by processes that are killed, and nothing comes after it.
"""

import sys
from collections.abc import Callable
from datetime import timedelta
from typing import Any, Final

from django.db import connection
from django.db.models.functions import Now

from agency.models import Mail, Notification
from agency.services.mail.sending import send_due_mails
from agency.services.notifications import delivery
from agency.services.notifications.delivery import mail_next_at_once, mail_next_digest
from config.tries.models import BegunWork
from tests.processes.killed_at_statements import ended_child, kill_at_each_statement

BATCH: Final = 2
SECONDS: Final = 60.0
PLACE = """
UPDATE agency_notificationevent SET told_until = (
    SELECT max(id) FROM (SELECT id FROM agency_user WHERE id > told_until ORDER BY id LIMIT 2) AS next
) WHERE told_at IS NULL
"""


def forget_tries() -> None:
    """Let no piece of work be set aside: at full size each kills more processes in a row than may die of it."""
    BegunWork.objects.update(tries=1)


def write_rows() -> None:
    forget_tries()
    delivery.BATCH = BATCH  # type: ignore[misc]  # a constant of the product
    while delivery.fan_out_next_event():
        pass


def mail_at_once() -> None:
    forget_tries()
    while mail_next_at_once():
        pass


def mail_digests() -> None:
    forget_tries()
    Notification.objects.filter(way="digest", mail_due_at__isnull=False).update(mail_due_at=Now())
    while mail_next_digest():
        pass


def send() -> None:
    """As the lease of whoever was killed had ended, and as if it had not been tried before."""
    BegunWork.objects.all().delete()
    Mail.objects.filter(sent_at=None).update(next_attempt_at=Now() - timedelta(seconds=1), attempts=0)
    send_due_mails(seconds=SECONDS)


def commit() -> None:
    """Commit within an atomic block, which Django does not do."""
    connection.connection.commit()


def breaking(part: str) -> Callable[..., Any]:
    """Give a wrapper of statements that commits where the product does not."""

    def run(execute: Callable[..., Any], sql: str, *arguments: Any) -> Any:
        if part == "early_place" and sql.startswith('INSERT INTO "agency_notification"'):
            with connection.cursor() as cursor:
                cursor.execute(PLACE)
            commit()
        if part == "early_sent" and sql.startswith('UPDATE "agency_mail" SET ') and '"agency_mail"."id" = ' in sql:
            sql = sql.replace(" SET ", ' SET "sent_at" = clock_timestamp(), ', 1) if '"attempts" = ' in sql else sql
        done = execute(sql, *arguments)
        if part == "early_mail" and sql.startswith('INSERT INTO "agency_mail"'):
            commit()
        return done

    return run


PARTS = {"early_place": write_rows, "early_mail": mail_at_once, "": mail_digests, "early_sent": send}


def main(broken: str = "") -> None:
    if broken:
        connection.execute_wrappers.append(breaking(broken))
    for part, work in PARTS.items():
        if broken in {"", part}:
            kill_at_each_statement(work)
            sys.stdout.write(" ")
        elif ended_child(work):
            sys.exit("a child was killed")
        if broken == part != "":
            return
