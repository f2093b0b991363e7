"""A contact goes with all that was written, however much that is."""

import io

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from tests.tenants import Tenant
from tests.workspaces.conversations.facts import receive, received, the_conversation
from tests.workspaces.conversations.sending import send
from tests.workspaces.media.files import picture
from workspaces.conversations.facts import ReceivedFile
from workspaces.conversations.models import Conversation, MediaFetch, Message, Note, QueuedMessage
from workspaces.media.models import Media, UnusedFile
from workspaces.media.services import store_media

pytestmark = pytest.mark.django_db
TABLES = (Conversation, Message, MediaFetch, QueuedMessage, Note)


def a_contact_who_wrote(a: Tenant, messages: int) -> str:
    """Give the id of one with a file, a fetch, a note, something to be sent, and so many messages."""
    receive(*[received(a.channel, message_id=f"wamid.{messages}-{number}") for number in range(messages)])
    receive(received(a.channel, type="image", file=ReceivedFile(reference="media-1")))
    conversation = the_conversation()
    source = Media.Source.RECEIVED
    for message in conversation.messages.filter(type="text"):
        message.media = store_media(
            workspace=a.workspace, file=io.BytesIO(picture()), filename="card.png", source=source, now=now()
        )
        message.save()
    answer = a.workspace_api.post(f"/conversations/{conversation.uuid}/notes", {"text": "Wants a window seat."})
    assert answer.status_code == 201
    send(a)
    assert all(table.objects.exists() for table in TABLES)
    return str(conversation.contact.uuid)


def removed(a: Tenant, contact: str) -> list[str]:
    """Remove a contact over the API; gives the statements."""
    with CaptureQueriesContext(connection) as statements:
        assert a.workspace_api.delete(f"/contacts/{contact}").status_code == 200
    return [one["sql"] for one in statements]


def test_a_removed_contact_leaves_nothing_and_no_message_is_loaded(a: Tenant) -> None:
    few = removed(a, a_contact_who_wrote(a, 2))
    many = removed(a, a_contact_who_wrote(a, 12))

    assert not [sql for sql in many if sql.startswith('SELECT "conversations_message"')]
    assert len(many) == len(few)
    assert not any(table.objects.exists() for table in TABLES)
    assert not Media.objects.exists()
    assert UnusedFile.objects.count() == 2 + 12


def test_all_that_refers_to_a_conversation_is_removed_with_it() -> None:
    """What is added is to be removed by `remove_conversations` too."""
    referring = {one.related_model for table in (Conversation, Message) for one in table._meta.related_objects}
    assert referring == {*TABLES} - {Conversation}
