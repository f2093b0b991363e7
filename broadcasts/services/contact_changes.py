"""Locks and updates broadcasts when a contact is removed or two contacts are merged."""

from collections.abc import Collection, Mapping, Sequence
from typing import Final, NamedTuple

from django.db import connection
from django.utils import timezone

from broadcasts import events
from broadcasts.models import Recipient, Stage
from broadcasts.services.counts import add_counts
from broadcasts.services.listing import add_to_chunks
from broadcasts.services.preparation import block_preparation
from broadcasts.services.recipient_events import record_recipient_events
from workspaces.contacts.services import ContactLockHandler, ContactMergeHandler, ContactRemovalHandler

# Broadcasts are locked before their recipients, as the sender does. These are the broadcasts whose chosen contacts
# change, and those in which the contact who stays may become a recipient.
LOCK_BROADCASTS_OF_CONTACT: Final = """
SELECT broadcast.id FROM broadcasts_broadcast broadcast
WHERE broadcast.workspace_id = (SELECT workspace_id FROM contacts_contact WHERE id = %(contact)s) AND (
    (NOT broadcast.is_prepared AND broadcast.chosen_contacts @> ARRAY[%(contact)s::bigint])
    OR (broadcast.status IN ('sending', 'paused')
        AND EXISTS (SELECT FROM broadcasts_recipient WHERE broadcast_id = broadcast.id AND contact_id = %(contact)s)
        AND NOT EXISTS (SELECT FROM broadcasts_recipient WHERE broadcast_id = broadcast.id AND contact_id = %(kept)s)))
ORDER BY broadcast.id FOR NO KEY UPDATE
"""
# A contact is in few broadcasts, all in its workspace, so each broadcast's recipients are searched by key. A row with a
# provider's message id was accepted by the network. Whatever status came since, it may still be delivered.
LOCK: Final = """
SELECT recipient.broadcast_id, recipient.contact_id, recipient.stage, broadcast.status IN ('sending', 'paused'),
    coalesce(recipient.address IS NULL AND recipient.claimed_at IS NULL
        AND recipient.skip_reason IN ('no_address', 'duplicate_address'), false),
    coalesce(recipient.stage IN (1, 2) OR recipient.status IN ('sent', 'delivered', 'read')
        OR recipient.provider_message_id IS NOT NULL OR recipient.error_code = 'send_outcome_unknown'
        OR (recipient.skip_reason = 'duplicate_address' AND recipient.claimed_at IS NOT NULL), false)
FROM broadcasts_broadcast broadcast
JOIN broadcasts_recipient recipient ON recipient.broadcast_id = broadcast.id AND recipient.contact_id = ANY (%(ids)s)
WHERE broadcast.workspace_id = (SELECT workspace_id FROM contacts_contact WHERE id = %(contact)s)
    AND broadcast.started_at IS NOT NULL
ORDER BY recipient.broadcast_id, recipient.contact_id
FOR NO KEY UPDATE OF recipient
"""
SKIP: Final = """
UPDATE broadcasts_recipient recipient SET stage = {done}, status = 'skipped', skip_reason = %s
FROM unnest(%s::bigint[], %s::bigint[]) AS told (broadcast_id, contact_id)
WHERE recipient.broadcast_id = told.broadcast_id AND recipient.contact_id = told.contact_id
"""
ERASE: Final = """
UPDATE broadcasts_recipient
SET address = NULL, address_kind = NULL, values = NULL, timezone = NULL, error_message = NULL, error_details = NULL,
    is_counted = false
WHERE broadcast_id = ANY (%s) AND contact_id = %s
"""
MOVE: Final = "UPDATE broadcasts_recipient SET contact_id = %s WHERE broadcast_id = ANY (%s) AND contact_id = %s"
# Marks the contact who stays if the merged contact may have got the message. The mark is the reason 'duplicate_address'
# with the time of the claim. A contact who was skipped at preparation has no such time.
MARK: Final = """
UPDATE broadcasts_recipient kept SET skip_reason = 'duplicate_address',
    claimed_at = coalesce(kept.claimed_at, gone.claimed_at, statement_timestamp())
FROM broadcasts_recipient gone
WHERE gone.broadcast_id = ANY (%(broadcasts)s::bigint[]) AND gone.contact_id = %(gone)s
    AND kept.broadcast_id = gone.broadcast_id AND kept.contact_id = %(kept)s AND kept.status = 'skipped'
"""
# Adds the mark for a contact without a row. If preparation still reaches the contact, it finds this row.
ADD_MARK: Final = """
WITH marked AS (
    INSERT INTO broadcasts_recipient
        (broadcast_id, contact_id, due_at, stage, tries, status, skip_reason, claimed_at, created_at)
    SELECT broadcast_id, %(kept)s, due_at, 4, 0, 'skipped', 'duplicate_address',
        coalesce(claimed_at, statement_timestamp()), created_at
    FROM broadcasts_recipient WHERE broadcast_id = ANY (%(broadcasts)s::bigint[]) AND contact_id = %(gone)s
    ON CONFLICT DO NOTHING RETURNING broadcast_id
)
UPDATE broadcasts_broadcast broadcast SET recipients_count = recipients_count + 1 FROM marked
WHERE broadcast.id = marked.broadcast_id RETURNING broadcast.id
"""
# Broadcasts that are not prepared yet list their chosen contacts.
RENAME: Final = """
UPDATE broadcasts_broadcast SET {changed}
WHERE workspace_id = (SELECT workspace_id FROM contacts_contact WHERE id = %(contact)s)
    AND chosen_contacts @> ARRAY[%(contact)s::bigint] AND NOT is_prepared {only}
"""
LEAVE_OUT: Final = RENAME.format(
    changed="chosen_contacts = array_remove(chosen_contacts, %(contact)s::bigint)", only=""
)
# Preparation walks contacts by their ids. Its position goes back, or its end moves forward, to reach the contact who
# stays; it passes over all others. If preparation has passed the merged contact, that contact had its turn, and the
# contact who stays is not chosen in its place.
CHOOSE_OTHER: Final = RENAME.format(
    changed="""
    chosen_contacts = array_replace(chosen_contacts, %(contact)s::bigint, %(kept)s::bigint),
    last_contact = CASE WHEN last_contact IS NOT NULL THEN greatest(last_contact, %(kept)s::bigint) END,
    prepared_up_to = least(prepared_up_to, %(kept)s::bigint - 1)
""",
    only="AND prepared_up_to < %(contact)s",
)
# A second walk would make overlapping chunks, so these broadcasts' chunks are deleted.
FORGET_CHUNKS: Final = """
DELETE FROM broadcasts_recipientchunk chunk USING broadcasts_broadcast broadcast
WHERE chunk.broadcast_id = broadcast.id AND NOT broadcast.is_prepared
    AND broadcast.workspace_id = (SELECT workspace_id FROM contacts_contact WHERE id = %(contact)s)
    AND broadcast.chosen_contacts @> ARRAY[%(contact)s::bigint]
"""
WAITING: Final = (Stage.READY, Stage.HELD)


class ContactRecipient(NamedTuple):
    """A contact's row in a broadcast, whether or not the broadcast is under way.

    `was_unreachable` says that preparation found no address of its own. `may_have_got_it` says that the message may
    have been sent to this contact or to one that was merged into it.
    """

    broadcast: int
    contact: int
    stage: int
    is_under_way: bool
    was_unreachable: bool
    may_have_got_it: bool

    @property
    def waits(self) -> bool:
        return self.stage in WAITING


def forget_contact(contact: int) -> None:
    """Erase a removed contact's data from broadcasts; its waiting messages are skipped."""
    block_preparation(contact)
    # Services that make recipients wait also lock broadcasts before recipients.
    _execute(LEAVE_OUT, {"contact": contact})
    found = _locked(contact)
    changes = _skip([row for row in found if row.waits], Recipient.SkipReason.NO_ADDRESS)
    _execute(ERASE, [[row.broadcast for row in found], contact])
    add_counts(changes)


def move_recipients(kept: int, gone: int) -> None:
    """Give `kept` the messages that `gone` still waits for, unless `kept` gets the broadcast anyway.

    A sent message keeps the contact id of `gone`, because the network's statuses name it.
    """
    block_preparation(gone)
    for statement in (LOCK_BROADCASTS_OF_CONTACT, FORGET_CHUNKS, CHOOSE_OTHER):
        _execute(statement, {"contact": gone, "kept": kept})
    found = _locked(gone, kept)
    theirs = {row.broadcast: row for row in found if row.contact == kept}
    leaving = [row for row in found if row.contact == gone]
    moving = [row.broadcast for row in leaving if row.waits and row.broadcast not in theirs]
    changing = [row.broadcast for row in leaving if row.waits and _is_unreachable(theirs.get(row.broadcast))]
    both = [(row, theirs[row.broadcast]) for row in leaving if row.broadcast in theirs]
    twice = [one for pair in both if (one := _superfluous_row(*pair))]
    changes = _skip(twice, Recipient.SkipReason.DUPLICATE_ADDRESS)
    marked = _mark(kept, gone, [row.broadcast for row in leaving if row.is_under_way and row.may_have_got_it])
    _execute(MOVE, [kept, moving, gone])
    add_to_chunks(moving, contact=gone, number=-1)
    add_to_chunks([*moving, *marked], contact=kept, number=1)
    # Swap the contact ids of the two rows, by way of an id that no contact has.
    for new, old in ((-gone, gone), (gone, kept), (kept, -gone)):
        _execute(MOVE, [new, changing, old])
    _execute(ERASE, [[row.broadcast for row in leaving if row.broadcast not in moving], gone])
    add_counts(changes | {broadcast: {"skipped": 1} for broadcast in marked})


def _is_unreachable(row: ContactRecipient | None) -> bool:
    return row is not None and row.was_unreachable


def _superfluous_row(gone: ContactRecipient, kept: ContactRecipient) -> ContactRecipient | None:
    """Return the row that waits although the other has got the message or will get it."""
    if gone.waits:
        return None if kept.was_unreachable else gone
    return kept if kept.waits and gone.may_have_got_it else None


def _locked(contact: int, *others: int) -> list[ContactRecipient]:
    with connection.cursor() as cursor:
        cursor.execute(LOCK, {"contact": contact, "ids": [contact, *others]})
        return [ContactRecipient._make(row) for row in cursor.fetchall()]


def _skip(rows: Collection[ContactRecipient], reason: Recipient.SkipReason) -> dict[int, Mapping[str, int]]:
    """Skip waiting recipients. Returns the changes to their broadcasts' counts."""
    if not rows:
        return {}
    skipped = [(row.broadcast, row.contact) for row in rows]
    _execute(
        SKIP.format(done=Stage.DONE.value), [reason.value, [one for one, _ in skipped], [one for _, one in skipped]]
    )
    record_recipient_events(events.RECIPIENT_SKIPPED, skipped, now=timezone.now())
    return {row.broadcast: {"pending": -1, "skipped": 1, "held": -(row.stage == Stage.HELD)} for row in rows}


def _mark(kept: int, gone: int, broadcasts: Collection[int]) -> list[int]:
    """Mark `kept` in these broadcasts, so that it gets no second message. Returns those in which it had no row."""
    if not broadcasts:
        return []
    values: dict[str, int | list[int]] = {"kept": kept, "gone": gone, "broadcasts": list(broadcasts)}
    with connection.cursor() as cursor:
        cursor.execute(MARK, values)
        cursor.execute(ADD_MARK, values)
        marked = [broadcast for (broadcast,) in cursor.fetchall()]
    record_recipient_events(events.RECIPIENT_SKIPPED, [(one, kept) for one in marked], now=timezone.now())
    return marked


def _execute(statement: str, values: Mapping[str, int] | Sequence[int | str | list[int]]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)


REMOVAL_HANDLER = ContactRemovalHandler(name="broadcasts", remove=forget_contact)
MERGE_HANDLER = ContactMergeHandler(name="broadcasts", move=move_recipients)


# Readers of statuses lock in this order too: broadcasts, their recipients, then contacts who want no more marketing.

# Broadcasts whose chosen contacts change, and broadcasts in which one of the contacts may take another's place.
LOCK_BROADCASTS_OF_CONTACTS: Final = """
SELECT FROM broadcasts_broadcast broadcast
WHERE workspace_id = ANY (ARRAY (SELECT workspace_id FROM contacts_contact WHERE id = ANY (%(ids)s)))
    AND ((chosen_contacts && %(ids)s::bigint[] AND NOT is_prepared)
    OR (status IN ('sending', 'paused') AND (
        SELECT count(*) FROM broadcasts_recipient
        WHERE broadcast_id = broadcast.id AND contact_id = ANY (%(ids)s)
    ) BETWEEN 1 AND cardinality(%(ids)s::bigint[]) - 1))
ORDER BY id FOR NO KEY UPDATE
"""
# Recipients are found by their key: a contact is in few broadcasts, all in its workspace.
LOCK_RECIPIENTS: Final = """
SELECT FROM broadcasts_broadcast broadcast
JOIN broadcasts_recipient recipient ON recipient.broadcast_id = broadcast.id AND recipient.contact_id = ANY (%(ids)s)
WHERE broadcast.workspace_id = ANY (ARRAY (SELECT workspace_id FROM contacts_contact WHERE id = ANY (%(ids)s)))
    AND broadcast.started_at IS NOT NULL
ORDER BY recipient.broadcast_id, recipient.contact_id FOR NO KEY UPDATE OF recipient
"""


def lock_recipients_of(contacts: Collection[int]) -> None:
    """Stop preparation, then lock the broadcasts that may change with these contacts, then the contacts' recipients."""
    values: dict[str, int | list[int]] = {"ids": list(contacts)}
    for contact in sorted(contacts):
        block_preparation(contact)
    with connection.cursor() as cursor:
        cursor.execute(LOCK_BROADCASTS_OF_CONTACTS, values)
        cursor.execute(LOCK_RECIPIENTS, values)


LOCK_HANDLER = ContactLockHandler("broadcasts", lock_recipients_of)
