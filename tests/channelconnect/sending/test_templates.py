"""Message templates: listed at the provider, shown to the workspace, told of, and checked before they are sent."""

import json
from typing import Any

import pytest
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import Event
from channelconnect.models import ChannelCredential, MessageTemplate, TemplateSync
from channelconnect.services.template_checks import check_template
from channelconnect.services.templates import sync_next, sync_soon
from tests import furnished
from tests.channelconnect.sending.messages import a_channel
from tests.tenants import Tenant
from tests.webhooks.workspaces import tenant_of
from tools.sandbox import RunningSandbox
from tools.sandbox.graph.tokens import Token, write
from webhooks.services.endpoints import register_endpoint
from workspaces.automations.services import met_requirements
from workspaces.conversations.services.conversations import ContentRefused
from workspaces.subaccounts.models import Channel

a, b = furnished.a_with_customer, furnished.b_with_customer

BUSINESS = "2010000"


@pytest.fixture
def number(db: None, a: Tenant, meta: RunningSandbox) -> Channel:
    """A WhatsApp number whose templates have been listed."""
    channel = a_channel(a.workspace, meta)
    assert sync_next(now=now())
    return channel


def text(*values: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": value} for value in values]


def listed(a: Tenant, query: str = "") -> list[dict[str, Any]]:
    answer = a.workspace_api.get(f"/templates{query}")
    assert answer.status_code == 200, answer.content
    found: list[dict[str, Any]] = answer.json()["data"]
    return found


def test_templates_are_shown_as_the_provider_has_them(a: Tenant, number: Channel) -> None:
    found = {(one["name"], one["language"]): one for one in listed(a, "?per_page=100")}

    assert len(found) == 15
    sale = found["sale", "en_US"]
    assert sale["channel"] == {"id": str(number.uuid)}
    assert (sale["category"], sale["status"]) == ("marketing", "approved")
    assert [(one["component"], one["index"], one["type"]) for one in sale["parameters"]] == [
        ("body", 1, "text"),
        ("body", 2, "text"),
        ("button", 0, "url"),
    ]
    assert found["order_ready", "en_US"]["parameters"] == [
        {"component": "body", "index": 1, "name": None, "type": "text", "example": "Ann"}
    ]
    assert found["named", "en_US"]["parameters"][0] | {"index": None} == {
        "component": "body",
        "index": None,
        "name": "name",
        "type": "text",
        "example": "Ann",
    }
    statuses = {name: one["status"] for (name, language), one in found.items() if language == "en_US"}
    assert statuses | {"hello": "approved", "waiting": "pending", "refused": "rejected"} == statuses
    assert statuses | {"paused": "paused", "disabled": "disabled", "archived": "disabled"} == statuses


def test_the_list_can_be_filtered(a: Tenant, number: Channel) -> None:
    wanted = {
        "?status=rejected": ["refused"],
        "?name=order_ready": ["order_ready", "order_ready"],
        "?name=order_ready&language=de": ["order_ready"],
        "?status=unheard_of": [],
        "?channel=0c6b1f7a-3f57-4b7e-9d5b-7a2b8d1e4c33": [],
    }
    assert {query: [one["name"] for one in listed(a, query)] for query in wanted} == wanted


def test_another_workspace_sees_none_of_them(b: Tenant, number: Channel) -> None:
    assert listed(b) == []


def test_a_list_takes_the_same_statements_whatever_its_length(
    a: Tenant, number: Channel, django_assert_max_num_queries: Any
) -> None:
    listed(a)
    with django_assert_max_num_queries(5):
        listed(a, "?per_page=100")


def test_a_sync_can_be_asked_for(a: Tenant, number: Channel) -> None:
    assert not sync_next(now=now())

    answer = a.workspace_api.post("/templates/sync", {"channel": str(number.uuid)})

    assert answer.status_code == 202
    assert answer.json()["data"]["channel"] == {"id": str(number.uuid)}
    assert sync_next(now=now())


def test_only_connected_numbers_can_be_synced(a: Tenant, b: Tenant, number: Channel, meta: RunningSandbox) -> None:
    page = a_channel(a.workspace, meta, platform="facebook")
    assert a.workspace_api.post("/templates/sync", {"channel": str(page.uuid)}).json()["errors"] == {
        "channel": ["Only WhatsApp channels have templates."]
    }
    assert b.workspace_api.post("/templates/sync", {"channel": str(number.uuid)}).status_code == 404
    Channel.objects.filter(pk=number.pk).update(status="error")
    assert a.workspace_api.post("/templates/sync", {"channel": str(number.uuid)}).status_code == 409


def test_changes_are_told_and_what_is_gone_is_forgotten(a: Tenant, number: Channel, meta: RunningSandbox) -> None:
    topics = ("template.approved", "template.rejected", "template.paused")
    register_endpoint(tenant=tenant_of(a.workspace), url="https://93.184.215.14/hooks", events=topics, by=SYSTEM)
    for name, changes in (
        ("waiting", {"status": "APPROVED"}),
        ("hello", {"status": "REJECTED"}),
        ("order_ready", {"status": "PAUSED"}),
        ("sale", {"category": "UTILITY"}),
        ("disabled", {"removed": True}),
        ("brand_new", {"status": "APPROVED"}),
    ):
        meta.control("POST", "template", {"business": BUSINESS, "name": name, **changes})

    sync_soon([BUSINESS, "not ours"], now=now())
    assert sync_next(now=now())
    sync_soon([BUSINESS], now=now())
    assert sync_next(now=now())

    bodies = [json.loads(bytes(body)) for body in Event.objects.filter(name__in=topics).values_list("body", flat=True)]
    told = sorted((body["event"], body["data"]["template"]["name"]) for body in bodies)
    assert told == [
        ("template.approved", "brand_new"),
        ("template.approved", "waiting"),
        ("template.paused", "order_ready"),
        ("template.rejected", "hello"),
    ]
    assert not MessageTemplate.objects.filter(name="disabled").exists()
    assert MessageTemplate.objects.get(name="sale").category == "utility"


def test_pages_with_nothing_in_them_end_no_list(a: Tenant, meta: RunningSandbox) -> None:
    channel = a_channel(a.workspace, meta, external_id="4070000")
    token = Token(person="gaps", kind="SYSTEM_USER", granted=("whatsapp_business_management",))
    credential = ChannelCredential.objects.get(channel=channel)
    credential.token, credential.container_id = write(token, meta.config.app_secret), "2070000"
    credential.save()

    assert sync_next(now=now())

    assert MessageTemplate.objects.filter(container_id="2070000").count() == 15


def test_a_listing_that_fails_keeps_what_is_there_and_is_tried_again(
    a: Tenant, number: Channel, meta: RunningSandbox
) -> None:
    meta.play(faults=[{"call": "templates", "fault": "throttled_for_long"}])
    sync_soon([BUSINESS], now=now())

    assert sync_next(now=now())

    sync = TemplateSync.objects.get()
    assert sync.fault == "provider_request_failed"
    assert 8 * 60 < (sync.due_at - now()).total_seconds() <= 10 * 60
    assert MessageTemplate.objects.count() == 15


def refusal_of(number: Channel, name: str, language: str, components: list[Any]) -> dict[str, list[str]]:
    with pytest.raises(ContentRefused) as refused:
        check_template(number, name, language, components)
    return dict(refused.value.errors)


def test_what_fits_gives_the_text_that_people_read(number: Channel) -> None:
    body = {"type": "body", "parameters": text("Ada", "tomorrow")}
    button = {"type": "button", "sub_type": "url", "index": "0", "parameters": text("x7")}
    assert check_template(number, "sale", "en_US", [body, button]) == "Hi Ada, our sale starts tomorrow."
    assert check_template(number, "hello", "en_US", []) == "Hello and welcome."
    named = {"type": "body", "parameters": [{"type": "text", "parameter_name": "name", "text": "Ada"}]}
    assert check_template(number, "named", "en_US", [named]) == "Hello Ada."
    document = {"type": "header", "parameters": [{"type": "document", "document": {"link": "https://example.com/a"}}]}
    filled = [document, {"type": "body", "parameters": text("7")}]
    assert check_template(number, "invoice", "en_US", filled) == "Your invoice 7."


REFUSED = [
    ("unheard_of", "en_US", [], "template", "The channel has no template unheard_of in en_US."),
    ("order_ready", "fr", [], "language", "The channel has no template order_ready in fr. It has it in de, en_US."),
    ("paused", "en_US", [], "template", "The template paused is paused and cannot be sent."),
    ("order_ready", "en_US", [], "components", "The template's body needs 1 parameter."),
    (
        "order_ready",
        "en_US",
        [{"type": "body", "parameters": text("a", "b")}],
        "components.0",
        "The template's body needs 1 parameter.",
    ),
    (
        "order_ready",
        "en_US",
        [{"type": "body", "parameters": text("")}],
        "components.0",
        "The template's body needs a parameter of the type text.",
    ),
    (
        "hello",
        "en_US",
        [{"type": "body", "parameters": text("a")}],
        "components.0",
        "The template's body takes no parameters.",
    ),
    (
        "invoice",
        "en_US",
        [{"type": "header", "parameters": text("a")}, {"type": "body", "parameters": text("7")}],
        "components.0",
        "The template's header needs a parameter of the type document.",
    ),
    (
        "sale",
        "en_US",
        [{"type": "body", "parameters": text("a", "b")}],
        "components",
        "The template's button.0 needs 1 parameter.",
    ),
    (
        "named",
        "en_US",
        [{"type": "body", "parameters": text("a")}],
        "components.0",
        "The template's body needs the parameters name.",
    ),
]


def component(kind: Any, *values: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, "parameters": text(*values), **more}


def button(**more: Any) -> dict[str, Any]:
    return {"type": "button", "sub_type": "url", "index": "0", "parameters": text("x7"), **more}


SALE = component("body", "Ada", "tomorrow")
KINDS = "The type of a component must be one of: header, body, button, carousel, limited_time_offer."
NO_BREAKS = "A text that fills a template may hold no line break, no tab and at most four spaces in a row."
NO_INDEX = "A button needs its index: its place in the template, counted from 0."
CARD = [
    {"type": "header", "parameters": [{"type": "image", "image": {"link": "https://example.com/a"}}]},
    component("body", "9.90"),
    button(),
]
MISFITS: list[tuple[str, list[Any], int, str]] = [
    ("order_ready", [component("body", "a"), component("body", "b")], 1, "The template's body is filled twice."),
    ("order_ready", [component("body", "a"), component("header", "b")], 1, "The template has no header."),
    ("order_ready", [component("body", "a"), {"type": "header"}], 1, "The template has no header."),
    ("order_ready", [component("body", "a"), button()], 1, "The template has no button.0."),
    ("order_ready", [component("body", "a"), component("zzz", "b")], 1, KINDS),
    ("order_ready", [component("body", "a"), component("footer")], 1, KINDS),
    ("order_ready", [component("body", "a"), component(5)], 1, KINDS),
    ("order_ready", [component("body", "a"), {}], 1, KINDS),
    ("order_ready", [component("body", "a"), 5], 1, KINDS),
    ("order_ready", [component("body", "a"), {"type": "carousel", "cards": []}], 1, "The template has no carousel."),
    (
        "order_ready",
        [{"type": "body", "parameters": {}}],
        0,
        "The parameters of a component must be a list of objects.",
    ),
    (
        "order_ready",
        [{"type": "body", "parameters": [*text("a"), "b"]}],
        0,
        "The parameters of a component must be a list of objects.",
    ),
    ("order_ready", [component("body", "a\nb")], 0, NO_BREAKS),
    ("order_ready", [component("body", "a\tb")], 0, NO_BREAKS),
    ("order_ready", [component("body", "a\r\nb")], 0, NO_BREAKS),
    ("order_ready", [component("body", "a     b")], 0, NO_BREAKS),
    ("sale", [SALE, button(), button()], 2, "The template's button.0 is filled twice."),
    ("sale", [SALE, button(), button(index=0)], 2, "The template's button.0 is filled twice."),
    ("sale", [button(), SALE, button(index="2")], 2, "The template has no button.2."),
    ("sale", [SALE, {"type": "button", "sub_type": "url", "parameters": text("x7")}], 1, NO_INDEX),
    ("sale", [SALE, button(index="first")], 1, NO_INDEX),
    ("sale", [SALE, button(index=-1)], 1, NO_INDEX),
    ("sale", [SALE, button(index=True)], 1, NO_INDEX),
    ("sale", [SALE, button(parameters=[])], 1, "The component of the template's button.0 needs a parameter."),
    ("sale", [SALE, button(sub_type="quick_reply")], 1, "The sub_type of the template's button.0 is url."),
    ("sale", [SALE, button(), button(index=1)], 2, "The sub_type of the template's button.1 is quick_reply."),
    (
        "sale",
        [SALE, button(), button(index=1, sub_type="quick_reply")],
        2,
        "The template's button.1 takes one parameter of the type payload.",
    ),
    ("carousel", [{"type": "carousel"}], 0, "The cards of a component must be a list of objects."),
    (
        "carousel",
        [{"type": "carousel", "cards": [{"components": CARD}]}],
        0,
        "A card needs its card_index: its place in the template, counted from 0.",
    ),
    (
        "carousel",
        [{"type": "carousel", "cards": [{"card_index": one, "components": CARD} for one in (0, 1, 1)]}],
        0,
        "The template's carousel.1 is filled twice.",
    ),
    (
        "carousel",
        [{"type": "carousel", "cards": [{"card_index": one, "components": CARD} for one in (0, 1, 2)]}],
        0,
        "The template has no carousel.2.",
    ),
    (
        "carousel",
        [{"type": "carousel", "cards": [{"card_index": 0, "components": [*CARD, {"type": "carousel", "cards": []}]}]}],
        0,
        KINDS,
    ),
]


def test_a_component_that_does_not_fit_is_named(number: Channel) -> None:
    found = [refusal_of(number, name, "en_US", components) for name, components, _, _ in MISFITS]
    assert found == [{f"components.{at}": [message]} for _, _, at, message in MISFITS]


def test_what_a_button_may_have_is_taken(number: Channel) -> None:
    payload = [{"type": "payload", "payload": "stop"}]
    quick = {"type": "button", "sub_type": "quick_reply", "index": 1, "parameters": payload}
    four = component("body", "Ada    Lovelace", "tomorrow")
    assert check_template(number, "sale", "en_US", [four, button(), quick]).startswith("Hi Ada    Lovelace,")
    assert check_template(number, "hello", "en_US", [component("body")]) == "Hello and welcome."
    cards = [{"card_index": one, "components": CARD} for one in (0, 1)]
    assert check_template(number, "carousel", "en_US", [{"type": "carousel", "cards": cards}]) == "New this week"


def test_what_would_not_be_sent_is_refused_before(number: Channel) -> None:
    found = [refusal_of(number, name, language, components) for name, language, components, _, _ in REFUSED]
    assert found == [{field: [message]} for _, _, _, field, message in REFUSED]


def test_the_requirement_is_met_by_an_approved_template(a: Tenant, number: Channel) -> None:
    assert "template" in met_requirements(a.workspace)
    MessageTemplate.objects.update(status="paused")
    assert "template" not in met_requirements(a.workspace)
