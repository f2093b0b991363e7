"""A pack's new version: the agency copies an automation anew, and customers who have it take it over or keep theirs."""

from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils.timezone import now

from agency.actors import SYSTEM
from packs.models import InstalledFlow, PackEntry
from tests import furnished
from tests.agency.console.browsers import flashes, text
from tests.factories import ChannelFactory, WorkspaceFactory
from tests.factories.flows import Flow, a_flow, a_step
from tests.packs.client import PackClient, an_automation
from tests.packs.small_library import extra, write_library
from tests.tenants import Tenant
from tests.workspaces.subaccounts.dashboard.clients import dashboard_client
from workspaces.automations.models import Automation
from workspaces.automations.services import publish_automation, save_draft
from workspaces.automations.services.automation_removal import delete_removed_rows
from workspaces.subaccounts.models import Workspace

a = furnished.a_with_customer

pytestmark = pytest.mark.django_db

GREETING = a_step("hello", "send_text", {"next": "link"}, text="Hello!")
LINK = a_step("link", "send_link_button", text="Our page", title="Open", url="https://corner-salon.example/x")


def greeting(**texts: str) -> Flow:
    return a_flow({**GREETING, "config": {"text": texts.get("hello", "Hello!")}}, LINK)


@pytest.fixture
def original(a: Tenant) -> Automation:
    """What works at one customer."""
    return an_automation(a.workspace, name="Greeting", flow=greeting())


@pytest.fixture
def customer(a: Tenant) -> Workspace:
    workspace = WorkspaceFactory.create(agency=a.agency, name="Salon Anna")
    ChannelFactory.create(workspace=workspace)
    return workspace


@pytest.fixture
def person(customer: Workspace) -> Client:
    return dashboard_client(customer)


@pytest.fixture
def pack(packs: PackClient, owner: Client, original: Automation) -> str:
    """A published pack with a copy of the original."""
    pack = packs.new(name="Hair")
    console_copy(owner, pack, original)
    packs.change(pack, status="published")
    return pack


def console_copy(owner: Client, pack: str, original: Automation, entry: str = "") -> Any:
    query = f"?entry={entry}" if entry else ""
    path = f"/console/packs/{pack}/copy/{original.workspace.uuid}/{original.uuid}{query}"
    answer = owner.post(path, follow=True)
    assert answer.status_code == 200, answer.content
    return answer


def install(person: Client, pack: str) -> Automation:
    person.post(f"/app/gallery/{pack}/install")
    return Automation.objects.get(from_pack=pack)


def renew(owner: Client, pack: str, original: Automation, flow: Flow) -> PackEntry:
    """Change the original, and copy it anew in the place of its copy."""
    saved = save_draft(automation=original, flow=flow, now=now(), by=SYSTEM)
    publish_automation(automation=saved, now=now(), by=SYSTEM)
    entry = PackEntry.objects.get(pack__uuid=pack)
    console_copy(owner, pack, original, str(entry.uuid))
    entry.refresh_from_db()
    return entry


def offer(person: Client, automation: Automation) -> dict[str, str]:
    """Open the page of the new version, and give the hidden fields of its form."""
    page = person.get(f"/app/automations/{automation.uuid}/new-version")
    assert page.status_code == 200, page.content
    return {name: str(page.context[name]) for name in ("seen", "version")}


def answer(person: Client, automation: Automation, **fields: str) -> Any:
    path = f"/app/automations/{automation.uuid}/new-version"
    return person.post(path, {**offer(person, automation), **fields}, follow=True)


def config(flow: Flow, position: int) -> dict[str, Any]:
    return dict(flow["steps"][position]["config"])


def test_a_new_version_is_shown_and_goes_into_the_draft_with_what_the_customer_filled_in(
    owner: Client, person: Client, pack: str, original: Automation
) -> None:
    automation = install(person, pack)
    person.post(f"/app/automations/{automation.uuid}", {"slot_1": "https://anna.example/"})
    assert "New version" not in text(person.get("/app/automations"))
    entry = renew(owner, pack, original, greeting(hello="Welcome!"))
    automation.refresh_from_db()

    assert "Greeting New version" in text(person.get("/app/automations"))
    assert "The pack Hair has a newer version of this automation. Review changes" in text(
        person.get(f"/app/automations/{automation.uuid}")
    )
    shown = text(person.get(f"/app/automations/{automation.uuid}/new-version"))
    assert "Before: Hello! Now: Welcome!" in shown
    assert "https://" not in shown, "what the customer filled in does not change"
    before, published = automation.draft, automation.published_version
    assert published == 1
    taken = answer(person, automation)
    assert taken.request["PATH_INFO"].endswith("/publish")
    automation.refresh_from_db()
    assert config(automation.draft, 0)["text"] == "Welcome!"
    assert config(automation.draft, 1)["url"] == config(before, 1)["url"]
    assert automation.published_version == published, "nothing runs that nobody published"
    assert InstalledFlow.objects.get(automation=automation).digest == entry.flow_digest
    assert "New version" not in text(person.get("/app/automations"))
    person.post(f"/app/automations/{automation.uuid}/edit/undo", {"seen": taken.context["seen"]})
    automation.refresh_from_db()
    assert automation.draft == before


def test_steps_that_are_new_ask_for_their_values_and_the_others_keep_theirs(
    owner: Client, person: Client, pack: str, original: Automation
) -> None:
    automation = install(person, pack)
    person.post(f"/app/automations/{automation.uuid}", {"slot_1": "https://anna.example/"})
    more = a_flow(
        {**LINK, "id": "new", "next": {"next": "hello"}, "config": {**LINK["config"], "title": "Look"}}, GREETING, LINK
    )
    renew(owner, pack, original, more)
    shown = text(person.get(f"/app/automations/{automation.uuid}/new-version"))
    assert "New Step 1: Send a link button" in shown
    assert "First step" not in shown, "the new step says where it leads"
    page = answer(person, automation)
    assert "The new version is in your draft. Fill in the missing values." in flashes(page)
    automation.refresh_from_db()
    urls = [step["config"].get("url") for step in automation.draft["steps"]]
    assert urls == [None, None, "https://anna.example/"]
    assert [slot["step"] for slot in automation.slots] == ["Step 1: Send a link button", "Step 3: Send a link button"]


def test_another_first_step_is_said(owner: Client, person: Client, pack: str, original: Automation) -> None:
    automation = install(person, pack)
    renew(owner, pack, original, a_flow({**LINK, "next": {"next": "hello"}}, {**GREETING, "next": {}}))
    shown = text(person.get(f"/app/automations/{automation.uuid}/new-version"))
    assert "Changed First step First step Before: Step 1: Send a text Now: Step 1: Send a link button" in shown


def test_a_version_that_is_declined_is_not_offered_again_but_a_later_one_is(
    owner: Client, person: Client, pack: str, original: Automation
) -> None:
    automation = install(person, pack)
    renew(owner, pack, original, greeting(hello="Welcome!"))
    seen = offer(person, automation)
    answer(person, automation, decline="yes")
    assert "New version" not in text(person.get("/app/automations"))
    path = f"/app/automations/{automation.uuid}/new-version"
    assert person.get(path).status_code == 404
    renew(owner, pack, original, greeting(hello="Good day!"))
    assert person.post(path, seen).status_code == 422, "the version that was looked at is not the newest any more"
    automation.refresh_from_db()
    assert config(automation.draft, 0)["text"] == "Hello!"
    answer(person, automation)
    automation.refresh_from_db()
    assert config(automation.draft, 0)["text"] == "Good day!"


def test_nothing_is_overwritten_that_somebody_changed_meanwhile(
    owner: Client, person: Client, pack: str, original: Automation
) -> None:
    automation = install(person, pack)
    renew(owner, pack, original, greeting(hello="Welcome!"))
    seen = offer(person, automation)
    automation.refresh_from_db()
    own: Any = {**automation.draft, "steps": [dict(step) for step in automation.draft["steps"]]}
    own["steps"][0]["config"] = {"text": "Hi, it is Anna!"}
    save_draft(automation=automation, flow=own, now=now(), by=SYSTEM)
    assert person.post(f"/app/automations/{automation.uuid}/new-version", seen).status_code == 422
    page = text(person.get(f"/app/automations/{automation.uuid}/new-version"))
    assert "Steps to check: you and the new version both changed them Step 1: Send a text" in page


def test_packs_that_are_not_published_offer_nothing(
    owner: Client, person: Client, packs: PackClient, pack: str, original: Automation
) -> None:
    automation = install(person, pack)
    renew(owner, pack, original, greeting(hello="Welcome!"))
    packs.change(pack, status="draft")
    assert "New version" not in text(person.get("/app/automations"))
    assert person.get(f"/app/automations/{automation.uuid}/new-version").status_code == 404


def test_the_agency_sees_what_changes_and_who_has_an_older_version(
    owner: Client, person: Client, packs: PackClient, pack: str, original: Automation
) -> None:
    install(person, pack)
    entry = PackEntry.objects.get(pack__uuid=pack)
    packs.api.patch(f"/packs/{pack}/entries/{entry.uuid}", {"name": "Say hello", "tier": "optional"})
    source = f"/console/packs/{pack}/copy"
    assert f"{source}?entry={entry.uuid}" in owner.get(f"/console/packs/{pack}").content.decode()
    choice = owner.get(f"{source}?entry={entry.uuid}").content.decode()
    assert f"{source}/{original.workspace.uuid}?entry={entry.uuid}" in choice
    saved = save_draft(automation=original, flow=greeting(hello="Welcome!"), now=now(), by=SYSTEM)
    publish_automation(automation=saved, now=now(), by=SYSTEM)
    preview = text(owner.get(f"{source}/{original.workspace.uuid}/{original.uuid}?entry={entry.uuid}"))
    assert "Replace Say hello with Greeting?" in preview
    assert "Before: Hello! Now: Welcome!" in preview
    renew(owner, pack, original, greeting(hello="Welcome!"))
    entry.refresh_from_db()
    assert (entry.name_override, entry.tier, entry.position) == ("Say hello", "optional", 1)
    assert "1 1 on an older version" in text(owner.get(f"/console/packs/{pack}"))
    assert packs.read(pack)["entries"][0]["uuid"] == str(entry.uuid)


def test_only_a_copy_for_the_same_channel_can_be_replaced(
    a: Tenant, owner: Client, packs: PackClient, pack: str, original: Automation
) -> None:
    entry = PackEntry.objects.get(pack__uuid=pack)
    telegram = an_automation(a.workspace, name="Telegram", flow=greeting(), platform="telegram")
    listed = text(owner.get(f"/console/packs/{pack}/copy/{a.workspace.uuid}?entry={entry.uuid}"))
    assert "Greeting" in listed
    assert "Telegram" not in listed
    path = f"/console/packs/{pack}/copy/{a.workspace.uuid}"
    refused = owner.post(f"{path}/{telegram.uuid}?entry={entry.uuid}")
    assert refused.status_code == 422
    assert "for another channel than the copy that it would replace" in text(refused)
    packs.add(pack, extra(1))
    library = PackEntry.objects.get(pack__uuid=pack, source="library")
    assert "Only a copied automation can be copied anew" in text(
        owner.post(f"{path}/{original.uuid}?entry={library.uuid}")
    )
    assert owner.get(f"{path}?entry={a.workspace.uuid}").status_code == 404


def test_a_library_that_changes_offers_its_new_version(
    settings: Any, tmp_path: Path, packs: PackClient, customer: Workspace, person: Client
) -> None:
    pack = packs.with_entries(extra(1), status="published")
    automation = install(person, pack)
    folder = write_library(tmp_path / "next")
    salons = folder / "salons.json"
    salons.write_text(salons.read_text().replace("Hello {{contact.first_name}}!", "Welcome {{contact.first_name}}!"))
    settings.PACK_LIBRARY = folder
    answer(person, automation)
    automation.refresh_from_db()
    assert config(automation.draft, 0)["text"] == "Welcome {{contact.first_name}}!"


def test_a_removed_automation_leaves_no_row_and_can_be_added_again(person: Client, pack: str) -> None:
    automation = install(person, pack)
    person.post(f"/app/automations/{automation.uuid}/remove")
    again = install(person, pack)
    while delete_removed_rows():
        pass
    assert not Automation.with_removed.filter(pk=automation.pk).exists()
    left = InstalledFlow.objects.filter(automation__in=[automation.pk, again.pk])
    assert [one.pk for one in left] == [again.pk]
