"""The editor of flows over HTTP, without scripts: each change by a form, and what is refused."""

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from agency.models import ActivityEntry
from tests import furnished
from tests.agency.console.browsers import flashes, text
from tests.factories import ProductFactory, WorkspaceFactory
from tests.factories.flows import a_flow, a_step
from tests.packs.client import an_automation
from tests.workspaces.subaccounts.dashboard.clients import dashboard_client
from workspaces.automations.models import Automation
from workspaces.subaccounts.models import Workspace

a = furnished.a_with_customer

pytestmark = pytest.mark.django_db
FLOW = a_flow(
    a_step("hello", "send_text", {"next": "ask"}, text="Hello {{contact.first_name}}!"),
    a_step(
        "ask",
        "send_buttons",
        {"button_1": "prices", "button_2": "visit", "other": "ask"},
        text="What do you need?",
        buttons=[{"title": "Prices"}, {"title": "A visit"}],
    ),
    a_step("prices", "send_text", text="From 10"),
    a_step("visit", "add_tag", tag="visit"),
)


@pytest.fixture
def automation(customer: Workspace) -> Automation:
    return an_automation(customer, flow=FLOW, name="Welcome")


class Editor:
    """The customer at the editor of one automation."""

    def __init__(self, client: Client, automation: Automation) -> None:
        self.client, self.automation = client, automation

    def url(self, page: str, *ids: str) -> str:
        return reverse(f"app:automation-{page}", args=[self.automation.uuid, *ids])

    def seen(self, url: str) -> str:
        found = re.search(r'name="seen" value="([0-9a-f]+)"', self.client.get(url).content.decode())
        assert found
        return found[1]

    def send(self, url: str, **values: Any) -> Any:
        """Open the page and send its form."""
        return self.client.post(url, {"seen": self.seen(url), **values})

    @property
    def flow(self) -> dict[str, Any]:
        self.automation.refresh_from_db()
        return dict(self.automation.draft)

    @property
    def ways(self) -> dict[str, dict[str, str]]:
        return {step["id"]: step["next"] for step in self.flow["steps"]}

    def config(self, node: str) -> dict[str, Any]:
        return next(dict(step["config"]) for step in self.flow["steps"] if step["id"] == node)


@pytest.fixture
def editor(owner: Client, automation: Automation) -> Editor:
    return Editor(owner, automation)


def test_the_steps_stand_below_each_other_with_their_branches(editor: Editor) -> None:
    page = text(editor.client.get(editor.url("edit")))
    told = ["When: A message with a keyword", "1. Send a text", "2. Send buttons", "If they choose “Prices”"]
    told += ["3. Send a text", "Ends here", "If they choose “A visit”", "4. Add a tag", "If it is anything else"]
    told += ["Continues with Step 2: Send buttons"]
    at = [page.index(one) for one in told]
    assert at == sorted(at)
    assert "This is the published version." in page


def test_a_step_is_added_at_a_branch(editor: Editor) -> None:
    url = editor.url("step-add", "ask", "button_1")
    assert "Add a step at step 2 (If they choose “Prices”)" in text(editor.client.get(url))
    answer = editor.send(f"{url}?type=send_text", type="send_text", **{"v-text": "One moment.\r\nPlease."})
    new = editor.ways["ask"]["button_1"]
    assert answer["Location"] == f"{editor.url('edit')}#step-{new}"
    assert (editor.config(new), editor.ways[new]) == ({"text": "One moment.\nPlease."}, {"next": "prices"})
    assert "Your changes run only after you publish them." in text(editor.client.get(editor.url("edit")))


def test_a_step_of_another_channel_cannot_be_added(editor: Editor) -> None:
    url = editor.url("step-add", "hello", "next")
    assert "Send quick replies" not in text(editor.client.get(url))
    answer = editor.client.post(url, {"seen": "x", "type": "show_quick_replies", "v-text": "?"})
    assert (answer.status_code, editor.flow) == (422, FLOW)


def test_what_does_not_fit_is_said_beside_its_field_and_nothing_is_lost(editor: Editor) -> None:
    answer = editor.send(
        editor.url("step", "hello"), type="send_text", **{"v-text": "Hello {{contact.shoe_size}}, <b>you</b>"}
    )
    assert answer.status_code == 422
    assert "There is no variable {{contact.shoe_size}}." in text(answer)
    assert "&lt;b&gt;you&lt;/b&gt;</textarea>" in answer.content.decode()
    assert editor.flow == FLOW


def buttons(*titles: tuple[str, str]) -> dict[str, str]:
    """The rows of a list as a form sends them: where each row was, and its text."""
    rows = {f"v-buttons-{row}-title": title for row, (_, title) in enumerate(titles)}
    return (
        rows
        | {f"v-buttons-{row}-was": was for row, (was, _) in enumerate(titles)}
        | {"v-buttons-rows": str(len(titles))}
    )


def test_a_branch_goes_with_its_button_only_if_people_say_so(editor: Editor) -> None:
    url = editor.url("step", "ask")
    left = {"v-text": "What?", **buttons(("0", ""), ("1", "A visit"), ("", "Something else"))}
    answer = editor.send(url, **left)
    assert answer.status_code == 422
    assert "Step 3: Send a text" in text(answer)
    assert editor.flow == FLOW
    editor.send(url, prune="on", **left)
    assert editor.ways == {"hello": {"next": "ask"}, "ask": {"button_1": "visit", "other": "ask"}, "visit": {}}
    assert editor.config("ask")["buttons"] == [{"title": "A visit"}, {"title": "Something else"}]


def test_a_list_gets_more_rows_without_saving(editor: Editor) -> None:
    url = editor.url("step-add", "hello", "next") + "?type=send_list"
    typed = {"v-rows-0-title": "First", "v-rows-0-was": "", "v-rows-rows": "3", "more": "rows"}
    answer = editor.send(url, type="send_list", **typed)
    content = answer.content.decode()
    assert answer.status_code == 200
    assert 'name="v-rows-5-title"' in content
    assert 'name="v-rows-6-title"' not in content
    assert 'value="First"' in content
    assert editor.flow == FLOW


def test_a_step_is_moved_and_removed(editor: Editor) -> None:
    editor.send(editor.url("step-move", "hello"), to="ask/button_2")
    assert (editor.flow["entry"], editor.ways["ask"]["button_2"], editor.ways["hello"]) == (
        "ask",
        "hello",
        {"next": "visit"},
    )
    page = text(editor.client.get(editor.url("step-remove", "ask")))
    assert "Keep the steps that follow (If they choose “A visit”); also removes: Step 2: Send a text" in page
    answer = editor.send(editor.url("step-remove", "ask"), to="button_2")
    assert answer.status_code == 302
    assert list(editor.ways) == ["hello", "visit"]


def test_a_place_leads_to_another_step_or_to_the_end(editor: Editor) -> None:
    editor.send(editor.url("connect", "prices", "next"), to="ask")
    assert editor.ways["prices"] == {"next": "ask"}
    answer = editor.send(editor.url("connect", "visit", "next"), to="visit")
    assert answer.status_code == 422
    assert "runs in a circle without a step that waits" in text(answer)
    assert editor.send(editor.url("connect", "ask", "button_2"), to="").status_code == 422
    editor.send(editor.url("connect", "ask", "button_2"), to="", prune="on")
    assert list(editor.ways) == ["hello", "ask", "prices"]


def test_the_start_is_changed(editor: Editor) -> None:
    url = editor.url("trigger")
    editor.send(url, type="keyword", **{"v-keywords": "hello\r\n\r\nhi\r\nhello", "v-match": "exact"})
    assert editor.flow["trigger"] == {"type": "keyword", "config": {"keywords": ["hello", "hi"], "match": "exact"}}
    assert "Also match small typing mistakes" in text(editor.client.get(url))
    editor.send(url, type="keyword", **{"v-keywords": "hello", "v-typos": "on"})
    assert editor.flow["trigger"]["config"] == {"keywords": ["hello"], "typos": True}
    editor.send(f"{url}?type=first_message", type="first_message", **{"v-outside_hours_only": "on"})
    assert editor.flow["trigger"] == {"type": "first_message", "config": {"outside_hours_only": True}}
    answer = editor.send(url, type="keyword", **{"v-keywords": "\n".join(map(str, range(31)))})
    assert "At most 30 lines are possible." in text(answer)


def test_what_the_product_knows_is_chosen_from_a_list(editor: Editor, customer: Workspace) -> None:
    product = ProductFactory.create(workspace=customer, name="Haircut")
    url = editor.url("step-add", "visit", "next") + "?type=send_product"
    assert f'<option value="{product.uuid}">Haircut</option>' in editor.client.get(url).content.decode()
    editor.send(url, type="send_product", **{"v-which": "chosen", "v-product": str(product.uuid)})
    assert editor.config(editor.ways["visit"]["next"]) == {"which": "chosen", "product": str(product.uuid)}
    assert "Haircut" in text(editor.client.get(editor.url("edit")))


def test_of_two_tabs_the_second_changes_nothing(editor: Editor) -> None:
    url = editor.url("step", "hello")
    first, second = editor.seen(url), editor.seen(url)
    assert editor.client.post(url, {"seen": first, "v-text": "First"}).status_code == 302
    answer = editor.client.post(url, {"seen": second, "v-text": "Second"})
    assert answer.status_code == 422
    assert "was changed meanwhile" in text(answer)
    again = editor.client.post(url, {"seen": re.findall(r'name="seen" value="(\w+)"', answer.content.decode())[0]})
    assert again.status_code == 422, "sending the refused form again changes nothing either"
    assert editor.config("hello") == {"text": "First"}
    assert "was changed meanwhile" in " ".join(
        flashes(editor.client.post(editor.url("undo"), {"seen": second}, follow=True))
    )


def test_changes_are_undone_and_made_again(editor: Editor) -> None:
    editor.send(editor.url("step", "hello"), **{"v-text": "Good day!"})
    assert "Undo (Step changed)" in text(editor.client.get(editor.url("edit")))
    mark = editor.seen(editor.url("edit"))
    editor.client.post(editor.url("undo"), {"seen": mark})
    assert editor.flow == FLOW
    editor.client.post(editor.url("redo"), {"seen": editor.seen(editor.url("edit"))})
    assert editor.config("hello") == {"text": "Good day!"}


def test_publishing_first_shows_what_changes(editor: Editor) -> None:
    editor.send(editor.url("step", "hello"), **{"v-text": "Good day!"})
    editor.send(editor.url("step-remove", "visit"), to="")
    editor.send(editor.url("step-add", "hello", "next") + "?type=has_tag", type="has_tag", **{"v-tag": "asked"})
    page = text(editor.client.get(editor.url("publish")))
    assert "Changed Step 1: Send a text Text Before: Hello {{contact.first_name}}! Now: Good day!" in page
    assert "Changed Step 3: Send buttons A visit Before: Step 4: Add a tag Now: the end" in page
    assert "New Step 2: Check a tag Tag asked yes Step 3: Send buttons" in page
    assert "Removed Step 4: Add a tag" in page
    answer = editor.send(editor.url("publish"))
    assert flashes(editor.client.get(answer["Location"])) == ["Version 2 is published."]
    editor.automation.refresh_from_db()
    assert editor.automation.published is not None
    assert editor.automation.published.flow == editor.automation.draft
    assert "There are no changes to publish." in text(editor.client.get(editor.url("publish")))


def test_what_is_missing_stands_at_its_step_and_keeps_the_draft_from_being_published(editor: Editor) -> None:
    editor.send(editor.url("step", "hello"), **{"v-text": ""})
    page = text(editor.client.get(editor.url("edit")))
    assert "1 detail is missing" in page
    assert "Text is not filled in." in page
    assert 'name="seen"' not in editor.client.get(editor.url("publish")).content.decode()
    answer = editor.client.post(editor.url("publish"), {"seen": editor.seen(editor.url("edit"))})
    assert answer.status_code == 422
    assert editor.flow != FLOW
    editor.automation.refresh_from_db()
    assert editor.automation.published_version == 1


def test_an_automation_is_made_from_nothing(owner: Client, customer: Workspace) -> None:
    url = reverse("app:automation-new")
    refused = owner.post(url, {"name": "Mentions", "platform": "whatsapp", "trigger": "story_mention"})
    assert refused.status_code == 422
    assert "This is not available on this channel." in text(refused)
    answer = owner.post(url, {"name": "Greeting", "platform": "whatsapp", "trigger": "keyword"})
    made = customer.automations.get()
    assert answer["Location"] == reverse("app:automation-trigger", args=[made.uuid])
    assert (made.draft["trigger"], made.draft["steps"][0]["type"]) == ({"type": "keyword", "config": {}}, "send_text")
    page = text(owner.get(reverse("app:automation-edit", args=[made.uuid])))
    assert "Keywords is not filled in." in page


def test_an_automation_is_copied_for_another_channel(editor: Editor, customer: Workspace) -> None:
    answer = editor.client.post(editor.url("copy"), {"name": "By text message", "platform": "sms"})
    copied = customer.automations.get(name="By text message")
    assert answer["Location"] == reverse("app:automation-edit", args=[copied.uuid])
    assert (copied.draft, copied.platform, copied.enabled) == (FLOW, "sms", False)
    assert "Send buttons) is not available on this channel type." in text(editor.client.get(answer["Location"]))


def test_the_name_and_how_often_it_runs_for_a_contact_are_changed(editor: Editor) -> None:
    url = editor.url("settings")
    refused = editor.client.post(url, {"name": "Hello", "reentry": "after", "reentry_days": ""})
    assert refused.status_code == 422
    assert "Say after how many days" in text(refused)
    editor.client.post(url, {"name": "Hello", "reentry": "after", "reentry_days": "30", "stops_on_reply": "on"})
    automation = editor.automation
    automation.refresh_from_db()
    assert (automation.name, automation.reentry, automation.reentry_days) == ("Hello", "after", 30)
    assert automation.stops_on_reply
    assert "Again after 30 days" in text(editor.client.get(reverse("app:automation", args=[automation.uuid])))
    entry = ActivityEntry.objects.filter(action="automation.settings_changed").get()
    assert entry.changes["reentry"] == ["always", "after"]
    editor.client.post(url, {"name": "Hello", "reentry": "once", "reentry_days": "30"})
    automation.refresh_from_db()
    assert (automation.reentry, automation.reentry_days) == ("once", 0)


@pytest.mark.parametrize(
    ("name", "ids"),
    [
        ("step", ["nothing"]),
        ("step-move", ["x" * 300]),
        ("step-remove", ["trigger"]),
        ("step-add", ["hello", "button_9"]),
        ("connect", ["trigger", "other"]),
        ("connect", ["nothing", "next"]),
    ],
)
def test_steps_and_places_that_are_not_there_are_not_found(editor: Editor, name: str, ids: list[str]) -> None:
    assert editor.client.get(editor.url(name, *ids)).status_code == 404
    assert editor.client.post(editor.url(name, *ids), {"seen": "x"}).status_code == 404


@pytest.mark.parametrize(
    "values",
    [
        {"v-buttons-rows": "999999999999", "v-text": "x"},
        {"v-buttons-rows": "-1", "v-buttons-0-was": "²", "v-text": "x"},
        {**buttons(("9999", "One"), ("0", "Two"), ("0", "Three")), "v-text": "x"},
        {"v-text": "x" * 5_000},
        {"v-text": "a\x00b"},
        {"seen": "x" * 10_000, "v-text": "x"},
    ],
)
def test_hostile_forms_change_nothing_or_little(editor: Editor, values: dict[str, str]) -> None:
    answer = editor.send(editor.url("step", "ask"), **values)
    assert answer.status_code in {302, 422}
    assert set(editor.ways) <= {"hello", "ask", "prices", "visit"}
    assert len(editor.config("ask").get("buttons", [])) <= 3


def test_the_editor_takes_few_statements_whatever_the_number_of_steps(
    customer: Workspace, owner: Client, django_assert_max_num_queries: Any
) -> None:
    steps = [a_step(f"s{n}", "add_tag", {"next": f"s{n + 1}"} if n < 99 else {}, tag="t") for n in range(100)]
    long = an_automation(customer, flow=a_flow(*steps))
    url = reverse("app:automation-edit", args=[long.uuid])
    owner.get(url)
    with django_assert_max_num_queries(12):
        assert owner.get(url).status_code == 200


def test_another_workspace_finds_nothing(a: Any, editor: Editor) -> None:
    other = dashboard_client(WorkspaceFactory.create(agency=a.agency))
    assert other.get(editor.url("edit")).status_code == 404
    assert other.post(editor.url("step", "hello"), {"seen": "x", "v-text": "Mine"}).status_code == 404
