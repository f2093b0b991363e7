"""Moves a merged contact's conversations. Two conversations on one channel become one."""

from collections.abc import Sequence

from workspaces.contacts.services.people.merging import ContactMergeHandler
from workspaces.conversations.models import Conversation, Message, Note, QueuedMessage
from workspaces.conversations.services.announcing import announce_changes

# The columns about the last message.
LAST = (
    "last_message",
    "last_message_uuid",
    "last_message_at",
    "last_message_direction",
    "last_message_type",
    "last_message_preview",
)
NEWEST = ("last_inbound_at", "read_up_to", "contact_received_up_to", "contact_read_up_to", "updated_at")


def move_conversations(kept: int, gone: int) -> None:
    """Move the conversations of the contact `gone` to `kept`, in the merge's transaction."""
    rows = Conversation.objects.filter(contact__in=(kept, gone)).order_by("pk").select_for_update()
    held: Sequence[Conversation] = list(rows)
    changed = [(one.workspace_id, one.pk) for one in held]
    own = {one.channel_id: one for one in held if one.contact_id == kept}
    for other in (one for one in held if one.contact_id == gone):
        if other.channel_id in own:
            _join(own[other.channel_id], other)
        else:
            other.contact_id = kept
            other.save(update_fields=["contact"])
    announce_changes(changed)


def _join(kept: Conversation, other: Conversation) -> None:
    """Merge `other` into `kept` with all messages and notes. The result is open if either was."""
    Message.objects.filter(conversation=other).update(conversation=kept)
    Note.objects.filter(conversation=other).update(conversation=kept)
    QueuedMessage.objects.filter(conversation_id=other.pk).update(conversation_id=kept.pk)
    if other.status == Conversation.Status.OPEN:
        kept.status = Conversation.Status.OPEN
    kept.snoozed_until = None
    kept.assigned_to_id = kept.assigned_to_id or other.assigned_to_id
    kept.unread_count += other.unread_count
    if _is_later(other, kept):
        for name in LAST:
            setattr(kept, name, getattr(other, name))
    for name in NEWEST:
        known = [moment for moment in (getattr(kept, name), getattr(other, name)) if moment is not None]
        setattr(kept, name, max(known, default=None))
    kept.save()
    other.delete()


def _is_later(other: Conversation, kept: Conversation) -> bool:
    """Return whether the last message of `other` is the newer one. At equal times the higher id counts."""
    if other.last_message_at is None or kept.last_message_at is None:
        return other.last_message_at is not None
    return (other.last_message_at, other.last_message or 0) > (kept.last_message_at, kept.last_message or 0)


MERGE_HANDLER = ContactMergeHandler(name="conversations", move=move_conversations)
