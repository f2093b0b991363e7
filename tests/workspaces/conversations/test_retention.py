"""Old messages and notes go, and conversations show what is left of them."""

import io
from datetime import timedelta
from typing import Any

import pytest
from django.utils.timezone import now

from tests.tenants import Tenant
from tests.workspaces.conversations.facts import moment, person, receive, received
from tests.workspaces.media.files import picture
from workspaces.conversations.facts import ReceivedFile
from workspaces.conversations.models import Conversation, MediaFetch, Message, Note
from workspaces.conversations.services.removal import MESSAGES, forget_messages
from workspaces.conversations.tasks import forget_messages as forget_task
from workspaces.media.models import Media, UnusedFile
from workspaces.media.services import store_media

pytestmark = pytest.mark.django_db
OLD, YOUNG = timedelta(days=731), timedelta(days=729)


def shown(a: Tenant, conversation: Conversation) -> dict[str, Any]:
    return dict(a.workspace_api.get(f"/conversations/{conversation.uuid}").json()["data"])


def written(a: Tenant, number: int, *ages: timedelta) -> Conversation:
    """A conversation of a person with messages of these ages, in the order of their times."""
    for place, age in enumerate(ages):
        receive(
            received(
                a.channel, person=person(number), message_id=f"{number}-{place}", text=f"Text {place}", at=moment()
            )
        )
        Message.objects.filter(provider_message_id=f"{number}-{place}").update(
            created_at=now() - age, provider_time=moment(place)
        )
    return Conversation.objects.get(contact__phone=person(number).phone)


def test_old_messages_go_and_the_conversation_shows_the_newest_that_is_left(a: Tenant) -> None:
    some = written(a, 1, OLD, OLD, YOUNG)
    all_of_it = written(a, 2, OLD, OLD)
    # What came in late stands last, and is gone before an older one that was written down later.
    late = written(a, 3, YOUNG, OLD)
    assert [shown(a, one)["unread_count"] for one in (some, all_of_it, late)] == [3, 2, 2]
    assert timedelta(hours=23) < MESSAGES.lag() < timedelta(hours=25)
    forget_task()
    assert [message.text for message in Message.objects.order_by("id")] == ["Text 2", "Text 0"]
    left, empty, older = (shown(a, one) for one in (some, all_of_it, late))
    assert (left["unread_count"], left["last_message"]["text"]) == (1, "Text 2")
    assert (empty["unread_count"], empty["last_message"]) == (0, None)
    assert (older["unread_count"], older["last_message"]["text"]) == (1, "Text 0")
    assert MESSAGES.lag() == timedelta(0)
    receive(received(a.channel, person=person(2), text="Back again"))
    assert shown(a, all_of_it)["last_message"]["text"] == "Back again"
    assert len(a.workspace_api.get(f"/conversations/{all_of_it.uuid}/messages").json()["data"]) == 1


def test_files_and_notes_go_with_old_messages_and_what_is_held_waits(a: Tenant) -> None:
    receive(*[received(a.channel, type="image", file=ReceivedFile(reference=f"media-{n}")) for n in range(3)])
    kept: dict[str, Any] = {
        "source": Media.Source.RECEIVED,
        "workspace": a.workspace,
        "filename": "card.png",
        "now": now(),
    }
    for message in Message.objects.order_by("id"):
        message.media, message.created_at = store_media(file=io.BytesIO(picture()), **kept), now() - OLD
        message.save()
    young = Message.objects.latest("id")
    Message.objects.filter(pk=young.pk).update(created_at=now() - YOUNG)
    conversation = Conversation.objects.get()
    for text in ("Old", "New"):
        a.workspace_api.post(f"/conversations/{conversation.uuid}/notes", {"text": text})
    Note.objects.filter(text="Old").update(created_at=now() - OLD)
    assert forget_messages(batch=1) == 1  # however much waits, a batch is as long as it may be
    forget_task()
    assert list(Message.objects.all()) == [young]
    assert [fetch.message_id for fetch in MediaFetch.objects.all()] == [young.pk]
    assert list(Media.objects.all()) == [young.media]
    assert UnusedFile.objects.count() == 2
    assert [note.text for note in Note.objects.all()] == ["New"]
