"""Copies out of sub-accounts: the ability, sources, preview, the copy, what it keeps and what it refuses."""

import json
import uuid
from typing import Any

import pytest
from django.utils.timezone import now

from agency.actors import SYSTEM
from packs.models import PackEntry
from tests import furnished
from tests.database.traces import traces
from tests.factories import WorkspaceFactory
from tests.factories.flows import a_catch_all, a_customers_flow, a_flow, a_step
from tests.packs.client import PackClient, an_automation, errors, wide
from tests.packs.small_library import WELCOME, extra
from tests.tenants import Api, Tenant, message
from workspaces.automations.flows.checks import problems_of
from workspaces.automations.models import Automation, AutomationVersion
from workspaces.automations.services import publish_automation, save_draft

a, b = furnished.a_with_customer, furnished.b_with_customer

REFUSAL = "This API key cannot copy automations out of sub-accounts."


def preview(api: Api, automation: Automation) -> Any:
    return api.get(f"/packs/import/preview?workspace={automation.workspace.uuid}&automation={automation.uuid}")


def copied(api: Api, pack: str, automation: Automation) -> Any:
    body = {"workspace": str(automation.workspace.uuid), "automation": str(automation.uuid)}
    return api.post(f"/packs/{pack}/entries", body)


def test_copy_calls_without_the_ability_are_403_before_anything_is_looked_up(a: Tenant, packs: PackClient) -> None:
    pack, automation = packs.new(), an_automation(a.workspace)
    nothing = str(uuid.uuid4())
    body = {"workspace": nothing, "automation": nothing}
    answers = [
        a.api.get("/packs/import/sources"),
        a.api.get("/packs/import/preview"),
        preview(a.api, automation),
        a.api.get(f"/packs/import/preview?workspace={nothing}&automation={nothing}"),
        copied(a.api, pack, automation),
        a.api.post(f"/packs/{nothing}/entries", body),
        a.api.post(f"/packs/{pack}/entries", {"workspace": "not a uuid", "automation": 7}),
    ]
    assert {(answer.status_code, message(answer)) for answer in answers} == {(403, REFUSAL)}


def test_everything_else_works_with_any_agency_key(packs: PackClient) -> None:
    pack = packs.new()
    packs.add(pack, extra(1))
    assert packs.change(pack, status="published")["status"] == "published"


def test_sources_list_sub_accounts_with_published_automations_only(a: Tenant, b: Tenant, copier: Api) -> None:
    WorkspaceFactory.create(agency=a.agency, name="Empty")
    zoe = WorkspaceFactory.create(agency=a.agency, name="Zoe")
    anna = WorkspaceFactory.create(agency=a.agency, name="anna")
    first = an_automation(zoe, name="B", platform="telegram")
    second = an_automation(zoe, name="A")
    an_automation(zoe, name="Draft", published=False)
    third = an_automation(anna, name="C")
    an_automation(b.workspace, name="Foreign")
    assert copier.get("/packs/import/sources").json() == {
        "data": [
            {
                "uuid": str(anna.uuid),
                "name": "anna",
                "automations": [{"uuid": str(third.uuid), "name": "C", "platform": "whatsapp"}],
            },
            {
                "uuid": str(zoe.uuid),
                "name": "Zoe",
                "automations": [
                    {"uuid": str(second.uuid), "name": "A", "platform": "whatsapp"},
                    {"uuid": str(first.uuid), "name": "B", "platform": "telegram"},
                ],
            },
        ]
    }


def test_a_preview_shows_what_a_copy_would_be_and_saves_nothing(a: Tenant, copier: Api) -> None:
    automation = an_automation(a.workspace, name="Booking", flow=a_customers_flow())
    before = traces()
    assert preview(copier, automation).json() == {
        "data": {
            "name": "Booking",
            "platform": "whatsapp",
            "refusals": [],
            "catch_all": False,
            "slots": [
                "Step 1: Send a text (Text)",
                "Step 3: Book an appointment (Calendar)",
                "Step 3: Book an appointment (Person)",
                "Step 5: Send a link button (Web address)",
            ],
        }
    }
    assert traces() == before


def test_a_preview_of_a_catch_all_says_so(a: Tenant, copier: Api) -> None:
    assert preview(copier, an_automation(a.workspace, flow=a_catch_all())).json()["data"]["catch_all"] is True


def test_a_preview_names_what_it_does_not_find(a: Tenant, b: Tenant, copier: Api) -> None:
    mine, foreign = an_automation(a.workspace), an_automation(b.workspace)
    nothing = uuid.uuid4()
    for workspace, automation, said in [
        (foreign.workspace.uuid, foreign.uuid, "Sub-account not found."),
        (nothing, mine.uuid, "Sub-account not found."),
        ("zzz", mine.uuid, "Sub-account not found."),
        (a.workspace.uuid, foreign.uuid, "Automation not found."),
        (a.workspace.uuid, nothing, "Automation not found."),
        (a.workspace.uuid, "zzz", "Automation not found."),
    ]:
        answer = copier.get(f"/packs/import/preview?workspace={workspace}&automation={automation}")
        assert (answer.status_code, message(answer)) == (404, said)
    assert list(errors(copier.get("/packs/import/preview"))) == ["workspace", "automation"]


def test_a_copy_is_cleaned_and_lists_its_slots(a: Tenant, packs: PackClient, copier: Api) -> None:
    pack = packs.new()
    automation = an_automation(a.workspace, name="Booking", flow=a_customers_flow())
    answer = copied(copier, pack, automation)
    assert answer.status_code == 201
    entry = answer.json()["data"]
    assert entry | {"uuid": None, "description": None} == {
        "uuid": None,
        "source": "custom",
        "template_id": None,
        "name": "Booking",
        "library_name": None,
        "name_override": None,
        "description": None,
        "description_override": None,
        "tier": "core",
        "requires": ["service", "availability", "payment"],
        "ai": False,
        "catch_all": False,
        "trigger_label": "A message with a keyword",
        "channels": ["whatsapp"],
        "missing": False,
        "slots": [
            {"node": "step_1", "path": "text", "label": "Text", "step": "Step 1: Send a text"},
            {"node": "step_3", "path": "calendar", "label": "Calendar", "step": "Step 3: Book an appointment"},
            {"node": "step_3", "path": "agent", "label": "Person", "step": "Step 3: Book an appointment"},
            {"node": "step_5", "path": "url", "label": "Web address", "step": "Step 5: Send a link button"},
        ],
    }
    kept = json.dumps(PackEntry.objects.get().flow)
    for secret in ("4915112345678", "151 1234", "cal-8841", "agent-17", "acct-agency-9", "corner-salon"):
        assert secret not in kept
        assert secret not in json.dumps(packs.read(pack))
    problems = problems_of(PackEntry.objects.get().flow, platform="whatsapp")
    assert [problem.sentence for problem in problems if not problem.empty] == []


def test_a_copy_takes_the_published_version_and_stays_as_it_was(a: Tenant, packs: PackClient, copier: Api) -> None:
    pack = packs.new()
    automation = an_automation(a.workspace, flow=a_flow(a_step("x", "send_text", text="Published")))
    draft = a_flow(a_step("x", "send_text", text="Draft"))
    save_draft(automation=automation, flow=draft, now=now(), by=SYSTEM)
    copied(copier, pack, automation)
    publish_automation(automation=automation, now=now(), by=SYSTEM)
    assert PackEntry.objects.get().flow["steps"][0]["config"] == {"text": "Published"}  # type: ignore[index]  # a copy has one


def test_a_copy_names_what_it_does_not_find(a: Tenant, b: Tenant, packs: PackClient, copier: Api) -> None:
    pack, foreign = packs.new(), an_automation(b.workspace)
    mine = an_automation(a.workspace)
    assert message(copied(copier, str(uuid.uuid4()), mine)) == "Pack not found."
    assert message(copied(copier, pack, foreign)) == "Sub-account not found."
    foreign.workspace = a.workspace
    answer = copied(copier, pack, foreign)
    assert (answer.status_code, message(answer)) == (404, "Automation not found.")
    body = {"workspace": "x", "automation": str(mine.uuid)}
    assert list(errors(copier.post(f"/packs/{pack}/entries", body))) == ["workspace"]


BARRED = (
    (a_step("x", "http_call", method="GET", url="https://x.example/"), "Step 2 (Call a web address) calls a web"),
    (a_step("x", "custom_code", code="1 + 1"), "Step 2 (Run code) runs code"),
    (a_step("x", "start_automation", automation="other"), "Step 2 (Jump to another automation) jumps to another"),
    (a_step("x", "connected_app", connection="c", action="a"), "Step 2 (Use a connected app) uses an app"),
)


def test_a_step_that_cannot_go_into_a_pack_is_refused_on_automation(a: Tenant, packs: PackClient, copier: Api) -> None:
    pack = packs.new()
    for step, said in BARRED:
        flow = a_flow(a_step("first", "send_text", {"next": "x"}, text="Hi"), step)
        automation = an_automation(a.workspace, name=said, flow=flow)
        (refusal,) = errors(copied(copier, pack, automation))["automation"]
        assert refusal.startswith(said)
        assert preview(copier, automation).json()["data"]["refusals"] == [refusal]
    assert packs.read(pack)["entries"] == []


def test_a_trigger_that_cannot_go_into_a_pack_is_refused(a: Tenant, packs: PackClient, copier: Api) -> None:
    automation = an_automation(a.workspace, flow=a_flow(trigger="outside_call", token="t-1"))
    (refusal,) = errors(copied(copier, packs.new(), automation))["automation"]
    assert refusal.startswith("The start (A call from another program) starts when another program")


def test_an_unknown_step_type_is_never_copied(a: Tenant, packs: PackClient, copier: Api) -> None:
    automation = an_automation(a.workspace)
    flow = a_flow(a_step("x", "teleport", secret="s"))
    automation.published = AutomationVersion.objects.create(automation=automation, number=2, flow=flow)
    automation.save()
    (refusal,) = errors(copied(copier, packs.new(), automation))["automation"]
    assert refusal == "Step 1 is of a type that is not known, so it cannot go into a pack."


def test_an_unpublished_automation_is_refused_on_automation(a: Tenant, packs: PackClient, copier: Api) -> None:
    automation = an_automation(a.workspace, published=False)
    expected = ["This automation is not published. Publish it before copying it."]
    assert errors(copied(copier, packs.new(), automation)) == {"automation": expected}
    assert preview(copier, automation).json()["data"]["refusals"] == expected


def refused_preview(api: Api, automation: Automation) -> dict[str, Any]:
    shown = dict(preview(api, automation).json()["data"])
    assert shown.pop("refusals")
    return shown


def test_a_refused_preview_says_what_a_copy_would_be(a: Tenant, copier: Api) -> None:
    text = a_step("x", "send_text", {"next": "y"}, text="Call +49 151 1234 5678")
    call = a_step("y", "http_call", method="GET", url="https://shop.example/x")
    for flow in (a_flow(text, call), a_flow(text, call, trigger="any_message")):
        automation = an_automation(a.workspace, name="Mine", published=False)
        automation.published = AutomationVersion.objects.create(automation=automation, number=1, flow=flow)
        automation.save()
        shown = refused_preview(copier, automation)
        assert (shown["name"], shown["platform"]) == ("Mine", "whatsapp")
        assert shown["catch_all"] is (flow["trigger"]["type"] == "any_message")
        assert [slot.partition(":")[0] for slot in shown["slots"]] == ["Step 1", "Step 2"]


def test_a_preview_of_an_unpublished_automation_reads_its_draft(a: Tenant, copier: Api) -> None:
    automation = an_automation(a.workspace, name="For ada@example.com", flow=a_customers_flow(), published=False)
    shown = refused_preview(copier, automation)
    assert (shown["name"], shown["catch_all"]) == ("A message with a keyword", False)
    assert shown["slots"][0] == "Step 1: Send a text (Text)"
    assert len(shown["slots"]) == 4
    catch_all = an_automation(a.workspace, flow=a_catch_all(), published=False)
    assert refused_preview(copier, catch_all)["catch_all"] is True


@pytest.mark.parametrize(
    "flow",
    [
        a_flow(a_step("x", "teleport", secret="s")),
        a_flow(a_step("x", "send_text", {"sent": "nowhere"}, text="Hi")),
        a_flow(a_step("x", "send_text", text=["no", "text"])),
        a_flow(a_step("x", "send_text", text="Hi"), a_step("x", "send_text", text="Twice")),
        a_flow() | {"entry": "nowhere"},
        a_flow(trigger="telepathy"),
    ],
)
def test_a_preview_of_what_cannot_be_read_to_its_end_is_no_fault(a: Tenant, copier: Api, flow: Any) -> None:
    shown = refused_preview(copier, an_automation(a.workspace, name="Draft", flow=flow, published=False))
    assert shown == {"name": "Draft", "platform": "whatsapp", "catch_all": False, "slots": []}


def test_a_copy_that_fails_the_packs_rules_is_refused_on_automation(a: Tenant, packs: PackClient, copier: Api) -> None:
    catch_all = an_automation(a.workspace, name="Catch all", flow=a_catch_all())
    plain = an_automation(a.workspace, name="Plain")
    assert list(errors(copied(copier, packs.with_entries(WELCOME), catch_all))) == ["automation"]
    full = packs.with_entries(*[extra(number) for number in range(1, 10)])
    assert list(errors(copied(copier, full, plain))) == ["automation"]


def test_a_copy_of_a_name_already_in_the_pack_is_refused_on_automation(
    a: Tenant, packs: PackClient, copier: Api
) -> None:
    pack = packs.with_entries(extra(1))
    automation = an_automation(a.workspace, name=wide("EXTRA 1"))
    assert list(errors(copied(copier, pack, automation))) == ["automation"]


def test_the_same_automation_can_be_copied_again_under_another_name(a: Tenant, packs: PackClient, copier: Api) -> None:
    pack, automation = packs.new(), an_automation(a.workspace, name="Mine")
    first = copied(copier, pack, automation).json()["data"]["uuid"]
    assert list(errors(copied(copier, pack, automation))) == ["automation"]
    copier.patch(f"/packs/{pack}/entries/{first}", {"name": "Ours"})
    assert copied(copier, pack, automation).status_code == 201
    assert packs.names(pack) == ["Ours", "Mine"]


def test_a_copys_blank_name_is_refused(a: Tenant, packs: PackClient, copier: Api) -> None:
    pack = packs.new()
    entry = copied(copier, pack, an_automation(a.workspace)).json()["data"]["uuid"]
    for name in (None, "", "   "):
        answer = a.api.patch(f"/packs/{pack}/entries/{entry}", {"name": name})
        assert errors(answer) == {"name": ["A copied automation needs a name."]}, name


def test_a_copys_own_name_is_kept_beside_the_one_the_agency_set(a: Tenant, packs: PackClient, copier: Api) -> None:
    pack = packs.new()
    entry = copied(copier, pack, an_automation(a.workspace, name="Theirs")).json()["data"]["uuid"]
    changed = a.api.patch(f"/packs/{pack}/entries/{entry}", {"name": "Ours", "description": "D"}).json()["data"]
    assert (changed["name"], changed["name_override"], changed["library_name"]) == ("Ours", "Ours", None)
    restored = a.api.patch(f"/packs/{pack}/entries/{entry}", {"description": None}).json()["data"]
    assert restored["description"] == "Starts with: a message with a keyword. Then: send a text."


def test_a_private_name_does_not_reach_other_customers(a: Tenant, packs: PackClient, copier: Api) -> None:
    automation = an_automation(a.workspace, name="For ada@example.com, +49 151 12345678")
    assert preview(copier, automation).json()["data"]["name"] == "A message with a keyword"
    assert copied(copier, packs.new(), automation).json()["data"]["name"] == "A message with a keyword"


def test_no_endpoint_accepts_a_flow(a: Tenant, packs: PackClient) -> None:
    pack = packs.new()
    body = {"template_id": extra(1), "flow": a_flow(a_step("x", "send_text", text="Mine")), "name": "Mine"}
    entry = a.api.post(f"/packs/{pack}/entries", body).json()["data"]
    assert entry["name"] == "Extra 1"
    a.api.patch(f"/packs/{pack}/entries/{entry['uuid']}", {"flow": body["flow"]})
    assert PackEntry.objects.get().flow is None
