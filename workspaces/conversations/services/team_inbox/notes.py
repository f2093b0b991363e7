"""Notes of the team in a conversation."""

from datetime import datetime

from django.db import transaction

from agency.actors import Actor
from workspaces.conversations.models import Conversation, Note
from workspaces.conversations.services.announcing import announce_changes
from workspaces.conversations.services.locking import lock_conversation
from workspaces.conversations.services.outbound.content import BegunAs, require_begun_as
from workspaces.conversations.services.recording import NOTE_ADDED
from workspaces.subaccounts.services import record_workspace_event


@transaction.atomic
def add_note(*, conversation: Conversation, text: str, now: datetime, by: Actor, begun_as: str = "") -> Note:
    """Add a note, which the contact never sees. Raises `BegunAsSomethingElse` for a text begun as a message."""
    require_begun_as(BegunAs.NOTE, begun_as)
    locked = lock_conversation(conversation)
    note = Note.objects.create(
        conversation=locked, text=text, author_kind=by.kind, author_label=by.label, created_at=now
    )
    record_workspace_event(workspace=locked.workspace, name=NOTE_ADDED, now=now, conversation=locked, note=note)
    announce_changes([(locked.workspace_id, locked.pk)])
    return note
