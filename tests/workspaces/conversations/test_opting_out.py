"""Whole messages that ask to be left alone are obeyed, and confirmed once."""

import pytest

from agency.models import ActivityEntry
from tests import furnished
from tests.tenants import Tenant
from tests.workspaces.conversations.facts import moment, person, receive, received, the_conversation
from workspaces.contacts.models import Contact
from workspaces.conversations.models import Message, QueuedMessage

a, b = furnished.a_with_customer, furnished.b_with_customer

pytestmark = pytest.mark.django_db
SETTINGS = "/conversations/settings"


def confirmations() -> list[str]:
    return list(Message.objects.filter(direction="out").values_list("text", flat=True))


@pytest.mark.parametrize(
    "text",
    [
        "STOP", "stop.", " Stop! ", "StopAll", "unsubscribe", "Revoke…", "opt  out", "\uff33\uff34\uff2f\uff30",
        "opt-out", "OptOut", "Opt-Out.", "opt \u2013 out", "opt\u2011out", '"STOP"', "'stop'", "\u201eSTOP\u201c",
        "\u00abStop\u00bb.", "\u201cstop.\u201d", "\u2018STOP\u2019!", "\u300cSTOP\u300d", "*STOP*", '"Opt-out"',
    ],
)  # fmt: skip
def test_the_whole_message_opts_out_in_any_case(a: Tenant, text: str) -> None:
    receive(received(a.channel, text=text))
    contact = Contact.objects.get()
    assert (contact.opt_out_source, contact.opted_out_at is not None) == ("keyword", True)


@pytest.mark.parametrize(
    "text",
    [
        "CANCEL",
        "End",
        '"Please stop"',
        "opt-outs",
        '""',
        "-",
        "Please stop",
        "Don't stop",
        "start",
        "",
        "Stop it",
        "stopp",
    ],
)
def test_other_messages_do_not(a: Tenant, text: str) -> None:
    receive(received(a.channel, text=text))
    assert Contact.objects.get().opted_out_at is None
    assert not QueuedMessage.objects.exists()


def test_it_is_confirmed_once_and_nothing_more_can_be_sent(a: Tenant) -> None:
    receive(received(a.channel, text="STOP", at=moment(-2)), received(a.channel, text="STOP!", at=moment(-1)))
    receive(received(a.channel, text="stop"))
    [confirmation] = confirmations()
    assert a.workspace.name in confirmation
    assert "START" in confirmation
    assert QueuedMessage.objects.count() == 1
    answer = a.workspace_api.post(f"/conversations/{the_conversation().uuid}/messages", {"text": "But wait"})
    assert (answer.status_code, answer.json()["message"]) == (409, "This contact has opted out.")


def test_an_opt_out_that_comes_a_day_late_is_obeyed_and_not_confirmed(a: Tenant) -> None:
    receive(received(a.channel, text="STOP", at=moment(-90_000)))
    assert Contact.objects.get().opted_out_at is not None
    assert confirmations() == []


@pytest.mark.parametrize("text", ["START", "unstop."])
def test_the_contact_comes_back(a: Tenant, text: str) -> None:
    receive(received(a.channel, text="STOP", at=moment(-2)))
    receive(received(a.channel, text=text, at=moment(-1)))
    contact = Contact.objects.get()
    assert (contact.opted_out_at, contact.opt_out_source) == (None, None)
    assert len(confirmations()) == 1


def test_the_last_word_in_a_batch_counts(a: Tenant) -> None:
    receive(received(a.channel, text="START", at=moment(-1)), received(a.channel, text="STOP", at=moment(-2)))
    assert Contact.objects.get().opted_out_at is None


def test_a_button_opts_out_by_its_payload(a: Tenant) -> None:
    receive(received(a.channel, type="interactive", text="No more offers", payload="STOP"))
    assert Contact.objects.get().opt_out_source == "button"


def test_a_workspace_has_words_of_its_own(a: Tenant, b: Tenant) -> None:
    assert a.workspace_api.get(SETTINGS).json()["data"] == {"opt_out_words": []}
    changed = a.workspace_api.put(SETTINGS, {"opt_out_words": ["Stopp!", "abmelden", "STOPP"]})
    assert (
        changed.json()["data"]
        == {"opt_out_words": ["stopp", "abmelden"]}
        == a.workspace_api.get(SETTINGS).json()["data"]
    )
    assert ActivityEntry.objects.filter(action="conversations.opt_out_words_changed").count() == 1
    receive(received(a.channel, text="Abmelden"), received(b.channel, person=person(2), text="Abmelden"))
    assert {one.workspace_id for one in Contact.objects.exclude(opted_out_at=None)} == {a.workspace.pk}


def test_a_word_that_opts_in_cannot_opt_out(a: Tenant) -> None:
    refused = a.workspace_api.put(SETTINGS, {"opt_out_words": ["Start!"]})
    assert (refused.status_code, list(refused.json()["errors"])) == (422, ["opt_out_words"])
