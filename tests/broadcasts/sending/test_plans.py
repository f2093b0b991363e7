"""Whatever the statistics say, what came of recipients is recorded without a look at all others."""

import re
from contextlib import closing
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils.timezone import now

from broadcasts.models import Broadcast, Recipient, Stage
from broadcasts.sending import statements
from broadcasts.sending.claims import NAME, pack_key
from broadcasts.sending.results import record_results
from channelconnect.providers.message_results import CallResult, Outcome, error_of
from channelconnect.providers.messages import OutgoingMessage
from channelconnect.providers.messages import Recipient as Addressee
from channelconnect.sending.sources import ClaimedMessage, MessageResult, prepare_session
from config.leases.connections import open_connection
from tests.broadcasts.sending.broadcasts import open_window, with_recipients
from workspaces.contacts.models import Contact
from workspaces.subaccounts.models import Channel

RUN, CLAIMED, WAITING = 7, 150, 1_500
WAIT = """
INSERT INTO broadcasts_recipient (broadcast_id, contact_id, due_at, stage, tries, status, created_at)
SELECT %s, 1000000000 + n, now(), 0, 0, 'pending', now() FROM generate_series(1, %s) n
"""
READ = """
SELECT seq_tup_read + coalesce(idx_tup_fetch, 0) FROM pg_stat_xact_user_tables WHERE relname = 'broadcasts_recipient'
"""
# What the planner takes a table's rows to be: so many on each page.
BELIEVED = "UPDATE pg_class SET reltuples = %s, relpages = 1 WHERE relname = %s"
TABLES = ("broadcasts_recipient", "contacts_contact", "conversations_conversation")
HUGE = 50_000_000
# How many of the tables' indexes each statement reads.
SCANS = {"PICK": 3, "SENT": 1, "RELEASE_DEAD_CLAIMS": 2, "HELD_BY_RUNS": 1, "RELEASE": 2}
OUTCOMES = {
    "accepted": Outcome(CallResult.ACCEPTED, "wamid.1"),
    "refused": Outcome(CallResult.REFUSED, error=error_of(131026)),
    "due again": Outcome(CallResult.RETRY, error=error_of(131056)),
    "unknown": Outcome(CallResult.UNKNOWN),
}


def results(channel: Channel, outcome: Outcome) -> list[MessageResult]:
    """What came of some recipients among many, claimed after the table was last looked through."""
    broadcast = with_recipients(channel, CLAIMED)
    claimed = Recipient.objects.of(broadcast)
    contacts = list(claimed.values_list("contact_id", flat=True))
    with connection.cursor() as cursor:
        cursor.execute(WAIT, [broadcast.pk, WAITING])
        cursor.execute("ANALYZE broadcasts_recipient")
    claimed.filter(contact_id__in=contacts).update(stage=Stage.CLAIMED, run=RUN, claimed_at=now())
    return [MessageResult(_row(channel, broadcast, contact), outcome, now().timestamp(), 5.0) for contact in contacts]


def _row(channel: Channel, broadcast: Broadcast, contact: int) -> ClaimedMessage:
    message = OutgoingMessage("", Addressee(), "text")
    return ClaimedMessage(NAME, pack_key(broadcast.pk, contact), 1, channel.pk, contact, 0, now(), message)


def read_of(database: Any) -> int:
    with database.cursor() as cursor:
        cursor.execute(READ)
        row = cursor.fetchone()
    return int(row[0]) if row else 0


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_a_record_reads_the_rows_that_it_is_about(channel: Channel, outcome: str) -> None:
    found = results(channel, OUTCOMES[outcome])
    with closing(open_connection("test")) as own, own.transaction(), transaction.atomic():
        before = read_of(own) + read_of(connection)
        kept = record_results(own, run=RUN, results=found)
        read = read_of(own) + read_of(connection) - before
    assert kept == CLAIMED
    assert 0 < read <= 4 * CLAIMED


def sender_session() -> Any:
    """A session as the sender's threads have it."""
    own = open_connection("test")
    prepare_session(own)
    return own


def plan_of(database: Any, statement: str) -> str:
    """The plan that is made once, for whatever values come."""
    names = dict.fromkeys(re.findall(r"%\((\w+)\)s", statement))
    for number, name in enumerate(names, start=1):
        statement = statement.replace(f"%({name})s", f"${number}")
    rows = database.execute(f"EXPLAIN (GENERIC_PLAN) {statement.replace('%%', '%')}").fetchall()
    return "\n".join(line for (line,) in rows)


@pytest.mark.parametrize("rows", [{}, dict.fromkeys(TABLES, HUGE), {"broadcasts_recipient": HUGE}], ids=str)
@pytest.mark.parametrize("statement", SCANS)
def test_no_claim_and_no_record_looks_at_all_contacts_or_recipients(
    channel: Channel, statement: str, rows: dict[str, int]
) -> None:
    broadcast = with_recipients(channel, 3)
    for recipient in Recipient.objects.of(broadcast):
        open_window(channel, Contact.objects.get(pk=recipient.contact_id))
    with closing(sender_session()) as own, own.transaction(force_rollback=True):
        for table in TABLES:
            own.execute(BELIEVED, [rows.get(table, 3), table])
        plan = plan_of(own, getattr(statements, statement))
    scans = re.findall(rf"Scan using \w+ on (?:{'|'.join(TABLES)}).*\n(.*)", plan)
    assert len(scans) == SCANS[statement], plan
    # A table that is known to be tiny may be walked for more keys than it has rows.
    is_tiny = statement in ("SENT", "RELEASE_DEAD_CLAIMS") and not rows
    assert is_tiny or all("Index Cond" in following for following in scans), plan
    assert not re.findall(r"Hash.* Join|Seq Scan|Bitmap|Merge Join|Materialize", plan), plan
