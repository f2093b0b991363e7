"""Files of messages: kept while something shows or needs them, gone with the message that its writer took back."""

import io
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from tests import furnished
from tests.tenants import Tenant
from tests.workspaces.conversations.facts import apply, moment, person, receive, received, reference
from tests.workspaces.conversations.sending import record, send
from tests.workspaces.media.files import picture
from workspaces.automations.models import Automation
from workspaces.conversations.facts import MessageRemoved
from workspaces.conversations.models import Message
from workspaces.conversations.services import inbound
from workspaces.media.models import Media, UnusedFile
from workspaces.media.services import open_media, remove_next_unused_file, store_media
from workspaces.media.services.files import MediaFileMissing

a = furnished.a_with_customer

pytestmark = pytest.mark.django_db


def a_file(a: Tenant, source: Media.Source = Media.Source.RECEIVED) -> Media:
    return store_media(workspace=a.workspace, file=io.BytesIO(picture()), filename="card.png", source=source, now=now())


def took_back(a: Tenant, *files: Media) -> int:
    """Somebody sends a message with each of these files, and takes them all back; says how many statements that was."""
    names = [f"wamid.of-{file.pk}" for file in files]
    receive(*[received(a.channel, message_id=name, type="image") for name in names])
    for name, file in zip(names, files, strict=True):
        Message.objects.filter(provider_message_id=name).update(media=file)
    about: Any = {"channel": reference(a.channel), "person": person(), "at": moment()}
    with CaptureQueriesContext(connection) as statements:
        assert apply(inbound.remove_messages, *[MessageRemoved(**about, message_id=name) for name in names])
    return len(statements)


def test_the_file_of_a_message_that_is_taken_back_is_gone(a: Tenant) -> None:
    file, other = a_file(a), a_file(a)
    took_back(a, file, other)

    assert not Media.objects.exists()
    assert Client().get(file.url).status_code == 404
    assert remove_next_unused_file()
    assert remove_next_unused_file()
    with pytest.raises(MediaFileMissing):
        open_media(file)
    assert not UnusedFile.objects.exists()


def test_a_file_that_something_else_shows_or_needs_stays(a: Tenant) -> None:
    shown, named, own, forgotten = a_file(a), a_file(a), a_file(a, Media.Source.UPLOADED), a_file(a)
    receive(received(a.channel, message_id="wamid.other"))
    Message.objects.filter(provider_message_id="wamid.other").update(media=shown)
    Automation.objects.filter(pk=a.automation.pk).update(draft={"steps": [{"config": {"media": str(named.uuid)}}]})

    took_back(a, shown, named, own, forgotten)

    assert set(Media.objects.all()) == {shown, named, own}
    assert Message.objects.get(provider_message_id="wamid.other").media == shown


def test_many_cost_no_more_statements_than_one(a: Tenant) -> None:
    one = took_back(a, a_file(a))
    assert took_back(a, *[a_file(a) for _ in range(6)]) == one


def test_a_file_is_not_removed_while_a_message_is_to_be_sent_with_it(a: Tenant) -> None:
    file = a_file(a, Media.Source.UPLOADED)
    message = send(a)
    Message.objects.filter(pk=message.pk).update(media=file)

    refused = a.workspace_api.delete(f"/media/{file.uuid}")

    assert refused.status_code == 409
    assert refused.json()["message"] == "This file is needed by a message that is still to be sent."
    record(message, provider_message_id="wamid.out")
    assert a.workspace_api.delete(f"/media/{file.uuid}").status_code == 200
    assert Message.objects.get(pk=message.pk).media is None
