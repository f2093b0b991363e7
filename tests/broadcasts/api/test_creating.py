"""Broadcasts are created over the API: what is required, what is kept, and what is refused and why."""

import json
from typing import Any

import pytest

from broadcasts.models import Broadcast
from tests import furnished
from tests.broadcasts.making import a_body, a_template, bring_to, create, row_of, some_contacts
from tests.factories import ChannelFactory
from tests.tenants import Tenant
from workspaces.subaccounts.models import Channel, Workspace

a, b = furnished.a_with_channel, furnished.b_with_channel

pytestmark = [pytest.mark.slow, pytest.mark.django_db]
NOBODY = "0a4ce8f1-22c4-4a62-9f5e-64c2f43a9d1b"


def refused(a: Tenant, **changes: Any) -> dict[str, Any]:
    answer = a.workspace_api.post("/broadcasts", a_body(a, **changes))
    assert answer.status_code == 422, answer.content
    errors: dict[str, Any] = answer.json()["errors"]
    assert not Broadcast.objects.exists()
    return {name: messages[0] for name, messages in errors.items()}


def test_a_draft_shows_all_of_its_fields(a: Tenant) -> None:
    shown = create(a)
    created_at = shown.pop("created_at")
    assert created_at.endswith("Z")
    assert shown == {
        "id": str(row_of(shown).uuid),
        "name": "Sale",
        "type": "contact",
        "channel": {"id": str(a.channel.uuid), "platform": "whatsapp", "name": a.channel.name},
        "status": "Draft",
        "paused_reason": None,
        "audience": {"type": "segment", "segment": "all", "contacts": None, "contacts_count": None},
        "message": {
            "template": None,
            "language": None,
            "components": [],
            "text": "Hello",
            "track_clicks": True,
            "header": None,
        },
        "timezone_mode": "fixed",
        "scheduled_at": None,
        "scheduled_local_at": None,
        "requires_approval": False,
        "approved_at": None,
        "source_broadcast_id": None,
        "retarget_engagement": None,
        "recipients_count": 0,
        "counts": {"pending": 0, "sent": 0, "delivered": 0, "read": 0, "failed": 0, "skipped": 0},
        "held_count": 0,
        "clicks_count": 0,
        "next_wave_at": None,
        "last_wave_at": None,
        "started_at": None,
        "completed_at": None,
    }


def test_name_channel_message_and_audience_are_required(a: Tenant) -> None:
    answer = a.workspace_api.post("/broadcasts", {})
    assert answer.status_code == 422
    assert set(answer.json()["errors"]) == {"name", "channel", "message"}
    assert refused(a, audience=None) == {"audience": "The audience field is required."}
    assert refused(a, name="x" * 121) == {"name": "The name field may have at most 120 characters."}


def test_a_channel_must_be_connected_and_of_a_kind_that_broadcasts_go_out_on(a: Tenant, b: Tenant) -> None:
    answer = a.workspace_api.post("/broadcasts", a_body(a, channel=str(b.channel.uuid)))
    assert (answer.status_code, answer.json()["message"]) == (404, "Channel not found.")
    telegram = ChannelFactory.create(workspace=a.workspace, platform="telegram")
    kinds = "Broadcasts can be sent on WhatsApp, Messenger, Instagram only."
    assert refused(a, channel=str(telegram.uuid)) == {"channel": kinds}
    Channel.objects.filter(pk=a.channel.pk).update(status="error")
    assert refused(a) == {"channel": "This channel is not connected."}


@pytest.mark.parametrize("platform", ["facebook", "instagram"])
def test_other_platforms_take_texts_of_their_length_and_no_templates(a: Tenant, platform: str) -> None:
    channel = str(ChannelFactory.create(workspace=a.workspace, platform=platform).uuid)
    longest, name = (2_000, "characters on Messenger") if platform == "facebook" else (1_000, "bytes on Instagram")
    too_long = {"message.text": f"The text field may have at most {longest} {name}."}
    assert refused(a, channel=channel, message={"text": "x" * (longest + 1)}) == too_long
    only = {"message.template": "Templates can be sent on WhatsApp only."}
    assert refused(a, channel=channel, message={"template": "summer_sale", "language": "en_US"}) == only
    create(a, channel=channel, message={"text": "x" * longest})


NO_MESSAGES: list[tuple[dict[str, Any], str, str]] = [
    ({"track_clicks": True}, "text", "One of message.text and message.template is required."),
    (
        {"text": "Hello", "template": "summer_sale"},
        "text",
        "The message.text field cannot be sent along with message.template.",
    ),
    ({"template": "summer_sale"}, "language", "The message.language field is required."),
    ({"text": "Hello", "language": "en"}, "language", "The message.language field goes with message.template only."),
    ({"template": "unheard_of", "language": "en_US"}, "template", "The channel has no template unheard_of in en_US."),
    (
        {"template": "summer_sale", "language": "de"},
        "language",
        "The channel has no template summer_sale in de. It has it in en_US.",
    ),
    ({"template": "summer_sale", "language": "en_US"}, "components", "The template's body needs 1 parameter."),
]


def test_a_message_is_one_text_or_one_template_that_fits(a: Tenant) -> None:
    a_template(a.channel, "body")
    found = [refused(a, message=message) for message, _, _ in NO_MESSAGES]
    assert found == [{f"message.{field}": sentence} for _, field, sentence in NO_MESSAGES]


def test_a_template_that_is_not_approved_cannot_be_sent(a: Tenant) -> None:
    a_template(a.channel, status="paused")
    told = {"message.template": "The template summer_sale is paused and cannot be sent."}
    assert refused(a, message={"template": "summer_sale", "language": "en_US"}) == told


def with_header(header: dict[str, Any] | None, **more: Any) -> dict[str, Any]:
    return {"template": "summer_sale", "language": "en_US", "header": header, **more}


@pytest.mark.parametrize("kind", ["image", "video", "document"])
def test_a_header_that_is_a_file_needs_its_public_link(a: Tenant, kind: str) -> None:
    a_template(a.channel, kind)
    needed = f"The message.header.url field is required: the template's header is of type {kind}."
    assert refused(a, message=with_header(None)) == {"message.header.url": needed}
    assert refused(a, message=with_header({"filename": "a"})) == {"message.header.url": needed}
    for link in ("http://shop.example.com/a", "https://localhost/a", "https://10.0.0.1/a", "ftp://x/y", "a picture"):
        [(field, sentence)] = refused(a, message=with_header({"url": link})).items()
        assert field == "message.header.url"
        assert sentence.startswith("The message.header.url field must be a public https link.")
    shown = create(a, message=with_header({"url": "https://93.184.215.14/{{fields.branch}}/a"}))
    assert shown["message"]["header"]["url"] == "https://93.184.215.14/{{fields.branch}}/a"
    create(a, message=with_header({"url": "{{fields.link}}"}))
    given = {"type": "header", "parameters": [{"type": kind, kind: {"link": "https://93.184.215.14/a"}}]}
    create(a, message=with_header(None, components=[given]))


def test_only_a_document_has_a_name(a: Tenant) -> None:
    a_template(a.channel, "image")
    header = {"url": "https://93.184.215.14/a", "filename": "Menu.pdf"}
    told = {"message.header.filename": "The message.header.filename field goes with documents only."}
    assert refused(a, message=with_header(header)) == told
    a_template(a.channel, "document", name="menu")
    assert create(a, message={**with_header(header), "template": "menu"})["message"]["header"]["filename"] == "Menu.pdf"


def test_a_header_of_text_takes_its_parameters(a: Tenant) -> None:
    a_template(a.channel, "text")
    one = {"message.header.parameters": "The template's header takes 1 parameter."}
    assert refused(a, message=with_header({"parameters": []})) == one
    assert refused(a, message=with_header({"parameters": ["a", "b"]})) == one
    file = {"message.header.url": "The template's header takes no file."}
    assert refused(a, message=with_header({"url": "https://93.184.215.14/a", "parameters": ["a"]})) == file
    shown = create(a, message=with_header({"parameters": ["{{contact.name}}"]}))
    assert shown["message"]["header"] == {"url": None, "filename": None, "parameters": ["{{contact.name}}"]}


BODY = {"type": "body", "parameters": [{"type": "text", "text": "Ada"}]}
NO_BREAKS = "A text that fills a template may hold no line break, no tab and at most four spaces in a row."


MISFITS: list[tuple[list[Any], int, str]] = [
    ([BODY, BODY], 1, "The template's body is filled twice."),
    ([BODY, {"type": "button", "index": "0", "sub_type": "url"}], 1, "The template has no button.0."),
    ([{"type": "body", "parameters": [{"type": "text", "text": "a\nb"}]}], 0, NO_BREAKS),
    ([5], 0, "Each entry of the message.components field must be an object."),
    ([BODY, None], 1, "Each entry of the message.components field is required."),
]


def test_a_component_that_does_not_fit_is_named(a: Tenant) -> None:
    a_template(a.channel, "image", "body")
    messages = [with_header({"url": "https://93.184.215.14/a"}, components=components) for components, _, _ in MISFITS]
    told = [{f"message.components.{at}": sentence} for _, at, sentence in MISFITS]
    assert [refused(a, message=message) for message in messages] == told
    shown = create(a, message=with_header({"url": "https://93.184.215.14/a"}, components=[BODY]))
    answers = [a.workspace_api.patch(f"/broadcasts/{shown['id']}", {"message": message}) for message in messages]
    found = [(answer.status_code, answer.json()["errors"]) for answer in answers]
    assert found == [(422, {name: [said] for name, said in one.items()}) for one in told]


def test_a_variable_that_nothing_stands_for_is_named(a: Tenant) -> None:
    for variable in ("contact.age", "appointment.time", "1", "workspace.colour", "contact"):
        [(field, sentence)] = refused(a, message={"text": f"Hello {{{{{variable}}}}}"}).items()
        assert field == "message.text"
        assert sentence.startswith(f"{{{{{variable}}}}} is no variable.")


def test_variables_are_looked_for_wherever_they_may_stand(a: Tenant) -> None:
    a_template(a.channel, "document", "body")
    body = {"type": "body", "parameters": [{"type": "text", "text": "{{contact.age}}"}]}
    link = "https://93.184.215.14/a"
    assert "message.components" in refused(a, message=with_header({"url": link}, components=[body]))
    body["parameters"][0]["text"] = "{{ fields.birthday gift }}"  # type: ignore[index]
    assert "message.header" in refused(a, message=with_header({"url": link + "{{contact.age}}"}, components=[body]))
    create(a, message=with_header({"url": link, "filename": "{{contact.first_name}}.pdf"}, components=[body]))


def test_a_variable_of_the_workspace_has_to_be_set(a: Tenant) -> None:
    told = "The workspace's booking link is not set, and {{workspace.booking_link}} needs it."
    assert refused(a, message={"text": "{{workspace.booking_link}}"}) == {"message.text": told}
    Workspace.objects.filter(pk=a.workspace.pk).update(booking_link="https://shop.example.com")
    create(a, message={"text": "{{workspace.booking_link}} of {{workspace.name}}"})


def test_an_audience_is_a_segment_or_contacts_of_the_workspace(a: Tenant, b: Tenant) -> None:
    chosen = some_contacts(a, 3)
    ids = [str(one.uuid) for one in chosen]
    shown = create(a, audience={"type": "contacts", "contacts": [*ids, ids[0].upper()]})
    assert (sorted(shown["audience"]["contacts"]), shown["audience"]["contacts_count"]) == (sorted(ids), 3)
    assert row_of(shown).chosen_contacts == sorted(one.pk for one in chosen)
    shown = create(a, audience={"type": "segment", "segment": str(a.segment.uuid)})
    assert shown["audience"]["segment"] == str(a.segment.uuid)
    for audience, thing in (
        ({"type": "contacts", "contacts": [str(b.contact.uuid)]}, "Contact"),
        ({"type": "segment", "segment": str(b.segment.uuid)}, "Segment"),
        ({"type": "segment", "segment": NOBODY}, "Segment"),
    ):
        answer = a.workspace_api.post("/broadcasts", a_body(a, audience=audience))
        assert (answer.status_code, answer.json()["message"]) == (404, f"{thing} not found.")


NO_AUDIENCES: list[tuple[dict[str, Any], str]] = [
    ({}, "audience.type"),
    ({"type": "everybody"}, "audience.type"),
    ({"type": "segment"}, "audience.segment"),
    ({"type": "segment", "segment": "regulars"}, "audience.segment"),
    ({"type": "contacts"}, "audience.contacts"),
    ({"type": "contacts", "contacts": []}, "audience.contacts"),
    ({"type": "contacts", "contacts": ["nobody"]}, "audience.contacts.0"),
    ({"type": "contacts", "contacts": [NOBODY] * 10_001}, "audience.contacts"),
]


def test_an_audience_that_says_nobody_is_refused(a: Tenant) -> None:
    assert [list(refused(a, audience=audience)) for audience, _ in NO_AUDIENCES] == [
        [field] for _, field in NO_AUDIENCES
    ]


def test_the_contacts_own_time_needs_a_wall_clock(a: Tenant) -> None:
    def local(wall: Any, **more: Any) -> dict[str, Any]:
        return {"timezone_mode": "contact", "scheduled_local_at": wall, **more}

    told = "The scheduled local at field is required with the contacts' own time."
    assert refused(a, **local(None)) == {"scheduled_local_at": told}
    walls: tuple[Any, ...] = (
        "2026-12-24 09:00:00Z",
        "2026-12-24T09:00:00+01:00",
        "2026-12-24 25:00:00",
        "tomorrow",
        5,
        "",
        {},
    )
    for wall in walls:
        assert list(refused(a, **local(wall))) == ["scheduled_local_at"]
    shown = create(a, **local("2026-12-24 09:00:00", scheduled_at="whenever"))
    assert (shown["scheduled_local_at"], shown["scheduled_at"]) == ("2026-12-24 09:00:00", "2026-12-23T19:00:00Z")


def test_one_moment_needs_an_offset(a: Tenant) -> None:
    for moment in ("2026-12-24T09:00:00", "soon", 5, "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-12:00"):
        assert list(refused(a, scheduled_at=moment)) == ["scheduled_at"]
    shown = create(a, scheduled_at="2026-12-24T09:00:00+01:00", scheduled_local_at="whenever")
    assert (shown["scheduled_at"], shown["scheduled_local_at"]) == ("2026-12-24T08:00:00Z", None)
    assert (shown["status"], shown["next_wave_at"]) == ("Draft", None)


def test_a_retarget_needs_a_broadcast_that_has_begun(a: Tenant, b: Tenant) -> None:
    source = create(a)
    retarget: dict[str, Any] = {"type": "retarget", "audience": None, "retarget_engagement": "clicked"}

    def errors(**more: Any) -> Any:
        return a.workspace_api.post("/broadcasts", a_body(a, **retarget, **more)).json()["errors"]

    assert errors() == {"source_broadcast_id": ["The source broadcast id field is required."]}
    begun = {"source_broadcast_id": ["The source broadcast has not begun to be sent."]}
    assert errors(source_broadcast_id=source["id"]) == begun
    bring_to(source, "sending")
    shown = create(a, **retarget, source_broadcast_id=source["id"])
    assert (shown["source_broadcast_id"], shown["retarget_engagement"], shown["audience"]) == (
        source["id"],
        "clicked",
        None,
    )
    del retarget["retarget_engagement"]
    assert errors(source_broadcast_id=source["id"]) == {
        "retarget_engagement": ["The retarget engagement field is required."]
    }
    theirs = create(b)
    answer = a.workspace_api.post(
        "/broadcasts", a_body(a, **retarget, retarget_engagement="read", source_broadcast_id=theirs["id"])
    )
    assert (answer.status_code, answer.json()["message"]) == (404, "Broadcast not found.")


def test_with_schedule_it_is_scheduled_at_once(a: Tenant) -> None:
    shown = create(a, schedule=True)
    assert shown["status"] == "Scheduled"
    assert row_of(shown).due_at is not None
    later = create(a, schedule=True, scheduled_at="2027-01-01T00:00:00Z")
    assert (later["next_wave_at"], later["last_wave_at"]) == ("2027-01-01T00:00:00Z", "2027-01-01T00:00:00Z")
    local = create(a, schedule=True, timezone_mode="contact", scheduled_local_at="2027-01-01 00:00:00")
    assert (local["next_wave_at"], local["last_wave_at"]) == ("2026-12-31T10:00:00Z", "2027-01-01T12:00:00Z")


def test_a_key_creates_once(a: Tenant) -> None:
    first = a.workspace_api.post("/broadcasts", a_body(a), Idempotency_Key="one")
    again = a.workspace_api.post("/broadcasts", a_body(a), Idempotency_Key="one")
    assert first.json() == again.json()
    assert Broadcast.objects.count() == 1


def test_what_cannot_be_stored_is_refused(a: Tenant) -> None:
    template: dict[str, Any] = {"template": "summer_sale", "language": "en_US"}
    found = [
        list(refused(a, message=message))
        for message in (
            {"text": "a\u0000b"},
            {**template, "components": [{"type": "body\u0000"}]},
            {**template, "components": [{"type": "body", "parameters": ["\ud800"]}]},
        )
    ]
    assert found == [["message.text"], ["message.components"], ["message.components"]]


def test_numbers_beyond_all_numbers_are_refused(a: Tenant) -> None:
    body = json.dumps(a_body(a, message={"template": "x", "language": "en", "components": [{"type": "NUMBER"}]}))
    answer = a.workspace_api.post(
        "/broadcasts", body.replace('"NUMBER"', "1e999").encode(), content_type="application/json"
    )
    assert (answer.status_code, list(answer.json()["errors"])) == (422, ["message.components"])
