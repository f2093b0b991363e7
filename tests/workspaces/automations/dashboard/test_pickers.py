"""Slots for what the workspace has are chosen from it: products, services, team members, calendars, people, files."""

import io
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.html import escape
from django.utils.timezone import now

from tests import furnished
from tests.factories import ProductFactory, ServiceFactory, StaffFactory, WorkspaceMemberFactory
from tests.factories.flows import a_flow, a_step
from tests.packs.client import an_automation
from tests.tenants import Tenant
from tests.workspaces.media.files import PDF
from tests.workspaces.subaccounts.dashboard.clients import dashboard_client
from workspaces.automations.dashboard import forms
from workspaces.automations.flows.flow import value_in
from workspaces.automations.models import Automation
from workspaces.media.models import Media
from workspaces.media.services import store_media
from workspaces.subaccounts.models import Workspace

a, b = furnished.a_with_customer, furnished.b_with_customer

pytestmark = [pytest.mark.slow, pytest.mark.django_db]
SLOTS = [("book", "service"), ("book", "agent"), ("pay", "product"), ("file", "media")]
MAKE = {"service": "/app/services/new", "agent": "/app/staff/new", "product": "/app/products/new", "media": "/app/api"}


@pytest.fixture
def owner(a: Tenant) -> Client:
    return dashboard_client(a.workspace)


@pytest.fixture
def automation(a: Tenant) -> Automation:
    made = an_automation(
        a.workspace,
        flow=a_flow(
            a_step("book", "book_appointment", {"booked": "pay", "not_booked": "pay"}, text="When?"),
            a_step("pay", "payment_link", {}, text="Pay here.", pays="order"),
            a_step("file", "send_media"),
        ),
        published=False,
    )
    made.slots = [{"node": node, "path": path, "label": path, "step": f"Step <{node}>"} for node, path in SLOTS]
    made.save()
    return made


def page_of(automation: Automation) -> str:
    return f"/app/automations/{automation.uuid}"


def shown(owner: Client, automation: Automation) -> str:
    return owner.get(page_of(automation)).content.decode()


def options(body: str, slot: str) -> list[str]:
    """The values that a slot's select offers, the empty one first."""
    select = body.partition(f'<select name="{slot}"')[2].partition("</select>")[0]
    return [part.partition('"')[0] for part in select.split('<option value="')[1:]]


def held(automation: Automation, number: int) -> Any:
    automation.refresh_from_db()
    return value_in(automation.draft, SLOTS[number - 1])


def a_file(workspace: Workspace, filename: str) -> Media:
    source = Media.Source.RECEIVED
    return store_media(workspace=workspace, file=io.BytesIO(PDF), filename=filename, source=source, now=now())


def test_what_the_workspace_has_is_offered_and_stored_by_its_id(
    owner: Client, a: Tenant, b: Tenant, automation: Automation
) -> None:
    has: list[Any] = [
        ServiceFactory.create(workspace=a.workspace, name="Haircut"),
        StaffFactory.create(workspace=a.workspace, name="<i>Hair</i> dresser"),
        ProductFactory.create(workspace=a.workspace, name="Comb"),
        a_file(a.workspace, "bill.pdf"),
    ]
    foreign = ProductFactory.create(workspace=b.workspace, name="Foreign soap")
    body = shown(owner, automation)
    for number, row in enumerate(has, 1):
        assert options(body, f"slot_{number}") == ["", str(row.uuid)]
        assert escape(str(row)) in body
    assert "Foreign soap" not in body

    given = {f"slot_{number}": str(row.uuid) for number, row in enumerate(has, 1)}
    assert owner.post(page_of(automation), given).status_code == 302
    assert [held(automation, number) for number in range(1, 5)] == list(given.values())
    assert shown(owner, automation).count(" selected>") == 4
    refused = owner.post(page_of(automation), given | {"slot_3": str(foreign.uuid)})
    assert refused.status_code == 422
    assert held(automation, 3) == given["slot_3"]


@pytest.fixture
def handed_over(a: Tenant) -> Automation:
    """One that hands conversations over and looks at calendars."""
    made = an_automation(
        a.workspace,
        flow=a_flow(
            a_step("hours", "working_hours", {"open": "assign", "closed": "give"}),
            a_step("assign", "assign", {"next": "give"}),
            a_step("give", "hand_over"),
        ),
        published=False,
    )
    slots = [("hours", "calendar"), ("assign", "agent"), ("assign", "team"), ("give", "team")]
    made.slots = [{"node": node, "path": path, "label": path, "step": node} for node, path in slots]
    made.save()
    return made


def test_calendars_are_the_whole_business_and_its_staff_and_conversations_go_to_those_who_answer(
    owner: Client, a: Tenant, b: Tenant, handed_over: Automation
) -> None:
    mia = str(StaffFactory.create(workspace=a.workspace, name="Mia").uuid)
    member = WorkspaceMemberFactory.create(workspace=a.workspace, name="Nora").user
    people = sorted((one.name, one.pk, one.email) for one in (a.workspace.owner, member))
    body = shown(owner, handed_over)
    assert options(body, "slot_1") == ["", "{{workspace.opening_hours}}", mia]
    for slot in ("slot_2", "slot_3", "slot_4"):
        assert options(body, slot) == ["", *(email for _, _, email in people)]
    assert f"Nora ({member.email})" in body

    theirs, mine = b.workspace.owner.email, a.workspace.owner.email
    for slot, foreign in (("slot_2", theirs), ("slot_4", "Anybody"), ("slot_1", "Mondays"), ("slot_3", "\0")):
        assert owner.post(page_of(handed_over), {slot: foreign}).status_code == 422
    given = {"slot_1": "{{workspace.opening_hours}}", "slot_2": member.email, "slot_3": member.email, "slot_4": mine}
    assert owner.post(page_of(handed_over), given).status_code == 302
    assert shown(owner, handed_over).count(" selected>") == 4
    handed_over.refresh_from_db()
    hours, assigned, given_to = (step["config"] for step in handed_over.draft["steps"])
    assert hours == {"calendar": "{{workspace.opening_hours}}"}
    assert (assigned, given_to) == ({"agent": member.email, "team": member.email}, {"team": mine})


def test_somebody_who_answers_is_found_by_name_or_address(
    owner: Client, a: Tenant, handed_over: Automation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forms, "MOST_OFFERED", 1)
    member = WorkspaceMemberFactory.create(workspace=a.workspace, name="Zora", email="z@late.example").user
    for words in ("zor", "LATE.ex"):
        sent = {"made_for": str(a.workspace.uuid), "slot_2-search": words, "search": "slot_2"}
        body = owner.post(page_of(handed_over), sent).content.decode()
        assert options(body, "slot_2") == ["", member.email]


def test_where_there_is_nothing_to_choose_a_link_leads_to_where_it_is_made(
    owner: Client, automation: Automation
) -> None:
    body = shown(owner, automation)
    for number, (node, path) in enumerate(SLOTS, 1):
        assert options(body, f"slot_{number}") == [""]
        assert f'Step &lt;{node}&gt; <a href="{MAKE[path]}' in body
        assert owner.get(MAKE[path]).status_code == 200


def test_what_a_slot_holds_already_stays_to_be_chosen(owner: Client, a: Tenant, automation: Automation) -> None:
    """A text of before, something deleted, and something past what is offered."""
    ProductFactory.create(workspace=a.workspace, name="Comb")
    retired = ProductFactory.create(workspace=a.workspace, name="Retired brush", active=False)
    kept = {("book", "service"): "cut-1", ("book", "agent"): str(uuid4()), ("pay", "product"): str(retired.uuid)}
    for (node, path), value in kept.items():
        step = next(one for one in automation.draft["steps"] if one["id"] == node)
        step["config"][path] = value
    automation.save()

    body = shown(owner, automation)
    assert [options(body, f"slot_{number}")[1] for number in (1, 2, 3)] == list(kept.values())
    assert "Retired brush" in body
    file = a_file(a.workspace, "bill.pdf")
    given = {f"slot_{number}": value for number, value in enumerate(kept.values(), 1)}
    assert owner.post(page_of(automation), {**given, "slot_4": str(file.uuid)}).status_code == 302
    assert [held(automation, number) for number in range(1, 5)] == [*kept.values(), str(file.uuid)]


def test_no_more_is_offered_than_a_page_takes(
    owner: Client, a: Tenant, automation: Automation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forms, "MOST_OFFERED", 2)
    for number in range(4):
        a_file(a.workspace, f"{number}.pdf")
        ProductFactory.create(workspace=a.workspace, name=f"Comb {number}")
    newest = [str(media.uuid) for media in Media.objects.newest_first()[:2]]
    body = shown(owner, automation)
    assert options(body, "slot_4") == ["", *newest]
    assert len(options(body, "slot_3")) == 3


def test_each_kind_is_read_once(
    owner: Client, automation: Automation, django_assert_max_num_queries: Callable[[int], Any]
) -> None:
    shown(owner, automation)
    with CaptureQueriesContext(connection) as before:
        shown(owner, automation)
    automation.slots = automation.slots * 2
    automation.save()
    with django_assert_max_num_queries(len(before)):
        assert shown(owner, automation).count("<select") >= 8


def test_what_is_past_the_bound_is_found_by_a_search_and_chosen(
    owner: Client, a: Tenant, automation: Automation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forms, "MOST_OFFERED", 2)
    for name in ("Alpha", "Beta", "Zeta"):
        ProductFactory.create(workspace=a.workspace, name=name)
    zeta = str(ProductFactory.create(workspace=a.workspace, name="Zeta oil").uuid)
    assert zeta not in options(shown(owner, automation), "slot_3")
    hidden = {"made_for": str(a.workspace.uuid)}
    typed = {**hidden, "slot_3-search": "ZETA O", "search": "slot_3"}
    found = owner.post(page_of(automation), typed).content.decode()
    assert options(found, "slot_3") == ["", zeta]
    assert 'value="ZETA O"' in found
    assert held(automation, 3) is None
    assert owner.post(page_of(automation), {**hidden, "slot_3-search": "alpha", "slot_3": zeta}).status_code == 302
    assert held(automation, 3) == zeta


def test_a_search_finds_nothing_of_others_and_takes_any_words(
    owner: Client, a: Tenant, b: Tenant, automation: Automation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forms, "MOST_OFFERED", 1)
    ProductFactory.create(workspace=a.workspace, name="Ours")
    theirs = str(ProductFactory.create(workspace=b.workspace, name="Theirs").uuid)
    hidden = {"made_for": str(a.workspace.uuid), "search": "slot_3"}
    for words in ("Theirs", "100%", "\0"):
        body = owner.post(page_of(automation), {**hidden, "slot_3-search": words, "slot_3": theirs}).content.decode()
        assert theirs not in options(body, "slot_3"), words
