"""Messages over the API: what may be sent, to whom and when, and what is put where the sender finds it."""

import json
from typing import Any

import pytest

from tests import furnished
from tests.factories import ChannelFactory
from tests.tenants import Tenant
from tests.workspaces.conversations.facts import apply, moment, person, receive, received, the_conversation
from tests.workspaces.conversations.sending import a_template
from workspaces.contacts.models import Contact, ContactIdentity
from workspaces.conversations.models import Conversation, Message, QueuedMessage
from workspaces.conversations.services import inbound
from workspaces.media.models import Media
from workspaces.subaccounts.models import Channel

a, b = furnished.a_with_customer, furnished.b_with_customer

pytestmark = [pytest.mark.slow, pytest.mark.django_db]
TEMPLATE = {"template": "appointment_reminder", "language": "en-US"}
CLOSED = "The 24-hour window of this conversation is closed. Send a template."


def send(a: Tenant, body: dict[str, Any], **headers: str) -> Any:
    return a.workspace_api.post(f"/conversations/{the_conversation().uuid}/messages", body, **headers)


def refusal(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["message"]


def a_file(a: Tenant, content_type: str, size: int = 1_000) -> Media:
    name = f"{content_type}-{size}-{Media.objects.count()}"
    return Media.objects.create(
        workspace=a.workspace, storage_name=name, filename="menu", content_type=content_type, size=size, sha256=b""
    )


def a_contact(a: Tenant, **values: Any) -> Contact:
    return Contact.objects.create(workspace=a.workspace, name="Ada", search_key="ada", **values)


@pytest.mark.parametrize("value", ['"a\\u0000b"', '"\\ud800"', "1e999", "-1e999", '{"\\u0000": 1}'])
def test_parameters_that_cannot_be_stored_are_refused(a: Tenant, value: str) -> None:
    receive(received(a.channel))
    path, body = f"/conversations/{the_conversation().uuid}/messages", {**TEMPLATE, "components": [{"type": "VALUE"}]}

    answer = a.workspace_api.post(
        path, json.dumps(body).replace('"VALUE"', value).encode(), content_type="application/json"
    )

    assert (answer.status_code, list(answer.json()["errors"])) == (422, ["components"])
    assert not Message.objects.filter(direction="out").exists()


def test_a_text_is_pending_and_queued(a: Tenant) -> None:
    receive(received(a.channel))
    answer = send(a, {"text": "Yes,\r\nat eight."})
    assert answer.status_code == 201
    shown = answer.json()["data"]
    assert (shown["text"], shown["status"], shown["direction"], shown["type"]) == (
        "Yes,\nat eight.",
        "pending",
        "out",
        "text",
    )
    message, queued = Message.objects.get(uuid=shown["id"]), QueuedMessage.objects.get()
    assert (queued.message_id, queued.channel_id, queued.conversation_id, queued.agency_id) == (
        message.pk,
        a.channel.pk,
        the_conversation().pk,
        a.agency.pk,
    )
    assert (the_conversation().last_message_uuid, the_conversation().last_message_direction) == (message.uuid, "out")


def test_a_key_sends_once(a: Tenant) -> None:
    receive(received(a.channel))
    first = send(a, {"text": "Once"}, Idempotency_Key="one")
    again = send(a, {"text": "Once"}, Idempotency_Key="one")
    assert first.json() == again.json()
    assert send(a, {"text": "Twice"}, Idempotency_Key="one").status_code == 409
    assert QueuedMessage.objects.count() == 1


def test_a_closed_window_takes_templates_only(a: Tenant) -> None:
    receive(received(a.channel, at=moment(-24 * 3600 - 60)))
    assert refusal(send(a, {"text": "Hello again"})) == (409, CLOSED)
    assert refusal(send(a, {"media": str(a_file(a, "image/png").uuid)})) == (409, CLOSED)
    a_template(a.channel)
    answer = send(a, TEMPLATE)
    assert answer.status_code == 201
    assert answer.json()["data"]["text"] == "Your table is booked."
    assert answer.json()["data"]["template"] == {"name": "appointment_reminder", "language": "en_US", "components": []}
    receive(received(a.channel))
    assert send(a, {"text": "There you are"}).status_code == 201


def test_a_first_message_opens_the_conversation(a: Tenant) -> None:
    contact = a_contact(a, phone="+4915112345678")
    to = {"contact": str(contact.uuid), "channel": str(a.channel.uuid)}
    assert refusal(a.workspace_api.post("/messages", {**to, "text": "Hello"})) == (409, CLOSED)
    assert not Conversation.objects.exists()
    a_template(a.channel)
    answer = a.workspace_api.post("/messages", {**to, **TEMPLATE})
    assert answer.status_code == 201
    again = a.workspace_api.post("/messages", {**to, **TEMPLATE})
    assert again.json()["data"]["conversation_id"] == answer.json()["data"]["conversation_id"]
    assert (Conversation.objects.count(), QueuedMessage.objects.count()) == (1, 2)


def test_whoever_has_no_address_there_cannot_be_reached(a: Tenant) -> None:
    messenger = ChannelFactory.create(workspace=a.workspace, platform="facebook")
    contact = a_contact(a, phone="+4915112345678")
    answer = a.workspace_api.post(
        "/messages", {"contact": str(contact.uuid), "channel": str(messenger.uuid), "text": "Hello"}
    )
    assert refusal(answer) == (409, "This contact cannot be reached on this channel.")
    ContactIdentity.objects.create(contact=contact, workspace=a.workspace, channel=messenger, external_id="psid")
    again = a.workspace_api.post(
        "/messages", {"contact": str(contact.uuid), "channel": str(messenger.uuid), "text": "Hello"}
    )
    assert refusal(again) == (409, CLOSED)


def test_a_channel_that_is_not_connected_sends_nothing(a: Tenant) -> None:
    receive(received(a.channel))
    Channel.objects.filter(pk=a.channel.pk).update(status="error")
    assert refusal(send(a, {"text": "Hello"})) == (409, "This channel is not connected.")


def test_what_is_not_the_workspaces_own_is_not_found(a: Tenant, b: Tenant) -> None:
    contact = a_contact(a, phone="+4915112345678")
    to = {"contact": str(contact.uuid), "channel": str(a.channel.uuid), **TEMPLATE}
    for field, value, thing in (("contact", a_contact(b).uuid, "Contact"), ("channel", b.channel.uuid, "Channel")):
        answer = a.workspace_api.post("/messages", {**to, field: str(value)})
        assert refusal(answer) == (404, f"{thing} not found.")
    receive(received(a.channel))
    assert refusal(send(a, {"media": str(a_file(b, "image/png").uuid)})) == (404, "Media not found.")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "text"),
        ({"text": ""}, "text"),
        ({"text": "a" * 4_097}, "text"),
        ({"text": "Hello", "template": "x", "language": "en"}, "template"),
        ({"text": "Hello", "caption": "x"}, "caption"),
        ({"template": "x"}, "language"),
        ({"template": "No name", "language": "en"}, "template"),
        ({"template": "x", "language": "English"}, "language"),
        ({"template": "x", "language": "en", "components": ["body"]}, "components.0"),
    ],
)
def test_content_that_is_none_is_refused(a: Tenant, body: dict[str, Any], field: str) -> None:
    receive(received(a.channel))
    answer = send(a, body)
    assert (answer.status_code, list(answer.json()["errors"])) == (422, [field])
    assert not QueuedMessage.objects.exists()


@pytest.mark.parametrize(
    ("component", "sentence"),
    [
        (5, "Each entry of the components field must be an object."),
        ({"type": "header", "parameters": []}, "The template has no header."),
        (
            {"type": "button", "sub_type": "url", "parameters": [{"type": "text", "text": "a"}]},
            "A button needs its index: its place in the template, counted from 0.",
        ),
    ],
)
def test_a_component_that_does_not_fit_the_template_is_named(a: Tenant, component: Any, sentence: str) -> None:
    receive(received(a.channel))
    a_template(a.channel)
    body = {**TEMPLATE, "components": [component]}
    first = {"contact": str(the_conversation().contact.uuid), "channel": str(a.channel.uuid)}
    for answer in (send(a, body), a.workspace_api.post("/messages", first | body)):
        assert (answer.status_code, answer.json()["errors"]) == (422, {"components.0": [sentence]})
    assert not QueuedMessage.objects.exists()


@pytest.mark.parametrize(
    ("platform", "text", "status"),
    [
        ("whatsapp", "ü" * 4_096, 201),
        ("facebook", "ü" * 2_000, 201),
        ("facebook", "ü" * 2_001, 422),
        ("instagram", "ü" * 500, 201),
        ("instagram", "ü" * 501, 422),
        ("sms", "Hello", 409),
    ],
)
def test_each_network_has_its_own_limit_of_text(a: Tenant, platform: str, text: str, status: int) -> None:
    channel = ChannelFactory.create(workspace=a.workspace, platform=platform)
    receive(received(channel))
    assert send(a, {"text": text}).status_code == status


@pytest.mark.parametrize(
    ("platform", "content_type", "size", "kind"),
    [
        ("whatsapp", "image/jpeg", 5 * 1024**2, "image"),
        ("whatsapp", "image/jpeg", 5 * 1024**2 + 1, None),
        ("whatsapp", "image/webp", 1_000, "sticker"),
        ("whatsapp", "image/gif", 1_000, None),
        ("whatsapp", "application/pdf", 90 * 1024**2, "document"),
        ("facebook", "image/gif", 1_000, "image"),
        ("facebook", "application/pdf", 26 * 1024**2, None),
        ("instagram", "application/pdf", 1_000, "document"),
        ("instagram", "audio/ogg", 1_000, None),
    ],
)
def test_each_network_takes_files_of_its_own(
    a: Tenant, platform: str, content_type: str, size: int, kind: str | None
) -> None:
    channel = ChannelFactory.create(workspace=a.workspace, platform=platform)
    receive(received(channel))
    answer = send(a, {"media": str(a_file(a, content_type, size).uuid)})
    if kind is None:
        assert (answer.status_code, list(answer.json()["errors"])) == (422, ["media"])
    else:
        shown = answer.json()["data"]
        assert (answer.status_code, shown["type"], shown["media"]["size"]) == (201, kind, size)


def test_only_some_files_take_captions(a: Tenant) -> None:
    receive(received(a.channel))
    picture, sound = a_file(a, "image/png"), a_file(a, "audio/ogg")
    assert send(a, {"media": str(picture.uuid), "caption": "Our menu"}).json()["data"]["text"] == "Our menu"
    refused = send(a, {"media": str(sound.uuid), "caption": "Our song"})
    assert (refused.status_code, list(refused.json()["errors"])) == (422, ["caption"])


def test_a_contact_who_comes_back_can_be_written_to(a: Tenant) -> None:
    receive(received(a.channel, text="STOP"))
    assert refusal(send(a, {"text": "Hello"})) == (409, "This contact has opted out.")
    assert refusal(send(a, TEMPLATE)) == (409, "This contact has opted out.")
    apply(inbound.receive_messages, received(a.channel, person=person(), text="START", at=moment(1)))
    assert send(a, {"text": "Hello"}).status_code == 201


def test_a_contact_who_wants_no_marketing_gets_no_marketing_template(a: Tenant) -> None:
    receive(received(a.channel))
    a_template(a.channel, "news", category="MARKETING")
    a_template(a.channel, "receipt", category="UTILITY")
    Contact.objects.update(marketing_opted_out_at=moment(), marketing_told_at=moment())
    news, receipt = ({"template": name, "language": "en_US"} for name in ("news", "receipt"))
    assert refusal(send(a, news)) == (409, "This contact has opted out.")
    to = {"contact": str(Contact.objects.get().uuid), "channel": str(a.channel.uuid)}
    assert refusal(a.workspace_api.post("/messages", {**to, **news})) == (409, "This contact has opted out.")
    assert send(a, receipt).status_code == send(a, {"text": "Hello"}).status_code == 201
    Contact.objects.update(marketing_opted_out_at=None)
    assert send(a, news).status_code == 201
