"""What a contact said last counts, by the network's time, in whatever order callbacks are read."""

from datetime import datetime, timedelta
from itertools import permutations
from typing import Any

import pytest
from django.utils.timezone import now

from tests import furnished
from tests.tenants import Tenant
from tests.workspaces.conversations.facts import apply, moment, person, receive, received, reference
from workspaces.contacts.models import Contact, ContactIdentity
from workspaces.contacts.services import opt_out_contact
from workspaces.conversations.facts import IdentityChanged, MarketingPreferenceChanged, Person
from workspaces.conversations.models import Message, QueuedMessage
from workspaces.conversations.services import inbound

a = furnished.a_with_customer

pytestmark = pytest.mark.django_db
HOUR = 3_600


def say(a: Tenant, text: str, at: datetime, **more: Any) -> None:
    """Let the contact write, in a reading of its own."""
    receive(received(a.channel, text=text, at=at, **more))


def want_marketing(a: Tenant, wanted: bool, at: datetime) -> None:
    fact = MarketingPreferenceChanged(channel=reference(a.channel), person=person(), at=at, wants_marketing=wanted)
    apply(inbound.change_marketing_preferences, fact)


def become(a: Tenant, before: Person, after: Person, at: datetime) -> None:
    apply(inbound.change_identities, IdentityChanged(channel=reference(a.channel), person=before, at=at, becomes=after))


def is_out() -> bool:
    return Contact.objects.get().opted_out


def test_an_older_start_that_is_read_later_undoes_no_stop(a: Tenant) -> None:
    say(a, "STOP", moment(-10))
    say(a, "START", moment(-20))
    assert is_out()
    refused = a.workspace_api.post("/messages", {"contact": str(Contact.objects.get().uuid), "text": "But wait"})
    assert refused.status_code != 201
    say(a, "START", moment(-5))
    assert not is_out()


def test_an_older_stop_that_is_read_later_changes_nothing(a: Tenant) -> None:
    say(a, "START", moment(-10))
    say(a, "STOP", moment(-20))
    assert not is_out()
    assert not QueuedMessage.objects.exists()


def test_any_order_of_readings_ends_with_the_last_word(a: Tenant) -> None:
    """A contact for each order: what each of them has said is read in that order, a word of each in a reading."""
    words = [("STOP", -40), ("START", -30), ("STOP", -20), ("STOP!", -10)]
    orders = {person(number): order for number, order in enumerate(permutations(range(4)), 1)}
    for turn in range(4):
        read = [(who, *words[order[turn]]) for who, order in orders.items()]
        receive(*(received(a.channel, person=who, text=text, at=moment(at)) for who, text, at in read))
    last = {contact.phone: contact.opted_out for contact in Contact.objects.all()}
    assert [order for who, order in orders.items() if not last[who.phone]] == []
    receive(*(received(a.channel, person=who, text="START", at=moment(-15)) for who in orders))
    last = {contact.phone: contact.opted_out for contact in Contact.objects.all()}
    assert [order for who, order in orders.items() if not last[who.phone]] == []
    assert Message.objects.filter(direction="in").count() == 5 * len(orders)


@pytest.mark.parametrize("order", list(permutations(("STOP", "START"))))
@pytest.mark.parametrize("together", [True, False])
def test_stop_wins_over_start_at_the_same_time(a: Tenant, order: tuple[str, ...], together: bool) -> None:
    facts = [received(a.channel, text=text, at=moment(-10)) for text in order]
    for some in [facts] if together else [[fact] for fact in facts]:
        receive(*some)
    assert is_out()


@pytest.mark.parametrize("by", ["api", "import", "dashboard"])
def test_what_somebody_of_the_workspace_changed_is_newer_than_a_message_sent_before(a: Tenant, by: str) -> None:
    say(a, "Hello", moment(-2 * HOUR))
    contact = Contact.objects.get()
    if by == "api":
        a.workspace_api.patch(f"/contacts/{contact.uuid}", {"opted_out": True})
    elif by == "import":
        a.workspace_api.post("/contacts/import", {"contacts": [{"phone": contact.phone, "opted_out": True}]})
    else:
        opt_out_contact(contact=contact, source=Contact.OptOutSource.DASHBOARD, now=now())
    say(a, "START", moment(-HOUR))
    assert is_out()
    say(a, "START", now() + timedelta(seconds=1))
    assert not is_out()


def test_somebody_who_opts_a_contact_out_again_has_the_newer_word(a: Tenant) -> None:
    say(a, "STOP", moment(-2 * HOUR))
    contact = Contact.objects.get()
    assert a.workspace_api.patch(f"/contacts/{contact.uuid}", {"opted_out": True}).status_code == 200
    a.workspace_api.post("/contacts/import", {"contacts": [{"phone": contact.phone, "opted_out": True}]})
    say(a, "START", moment(-HOUR))
    assert is_out()
    assert Contact.objects.get().opt_out_source == "keyword"


def test_staff_can_always_opt_a_contact_in(a: Tenant) -> None:
    say(a, "STOP", now() + timedelta(seconds=60))
    contact = Contact.objects.get()
    assert not a.workspace_api.patch(f"/contacts/{contact.uuid}", {"opted_out": False}).json()["data"]["opted_out"]
    say(a, "STOP", moment(-HOUR))
    assert not is_out()


def test_an_older_wish_for_marketing_undoes_no_newer_one(a: Tenant) -> None:
    want_marketing(a, False, moment(-10))
    want_marketing(a, True, moment(-20))
    assert Contact.objects.get().marketing_opted_out_at == moment(-10)
    want_marketing(a, True, moment(-10))
    assert Contact.objects.get().marketing_opted_out_at == moment(-10)
    want_marketing(a, False, moment(-1))
    want_marketing(a, True, moment(-5))
    assert Contact.objects.get().marketing_opted_out_at is not None
    want_marketing(a, True, moment(0))
    want_marketing(a, False, moment(-1))
    assert Contact.objects.get().marketing_opted_out_at is None


@pytest.mark.parametrize("order", list(permutations((False, True))))
def test_of_two_wishes_for_marketing_of_one_moment_the_one_against_it_counts(
    a: Tenant, order: tuple[bool, ...]
) -> None:
    facts = [
        MarketingPreferenceChanged(channel=reference(a.channel), person=person(), at=moment(-1), wants_marketing=wanted)
        for wanted in order
    ]
    apply(inbound.change_marketing_preferences, *facts)
    assert Contact.objects.get().marketing_opted_out_at is not None


def test_an_older_change_of_an_id_undoes_no_newer_one(a: Tenant) -> None:
    first, second, third = (person(user_id=f"DE.{number}") for number in (1, 2, 3))
    say(a, "Hello", moment(-100), person=first)
    become(a, second, third, moment(-10))
    become(a, first, second, moment(-20))
    assert ContactIdentity.objects.get().user_id == "DE.3"
    say(a, "Sent long ago", moment(-30), person=first)
    assert ContactIdentity.objects.get().user_id == "DE.3"
    say(a, "And now", moment(-1), person=person(user_id="DE.4"))
    assert ContactIdentity.objects.get().user_id == "DE.4"
    assert Contact.objects.count() == 1


def test_two_changes_of_an_id_in_one_reading_go_by_their_times(a: Tenant) -> None:
    first, second, third = (person(user_id=f"DE.{number}") for number in (1, 2, 3))
    say(a, "Hello", moment(-100), person=first)
    channel = reference(a.channel)
    facts = [
        IdentityChanged(channel=channel, person=second, at=moment(-10), becomes=third),
        IdentityChanged(channel=channel, person=first, at=moment(-20), becomes=second),
    ]
    apply(inbound.change_identities, *facts)
    assert ContactIdentity.objects.get().user_id == "DE.3"


@pytest.mark.parametrize("kept_is_newer", [True, False])
def test_of_two_contacts_that_become_one_the_newer_word_stays(a: Tenant, kept_is_newer: bool) -> None:
    kept, gone = person(1), person(2)
    times = (moment(-10), moment(-20)) if kept_is_newer else (moment(-20), moment(-10))
    say(a, "STOP", times[0] - timedelta(seconds=60), person=kept)
    say(a, "START", times[0], person=kept)
    say(a, "STOP", times[1], person=gone)
    ids = {contact.phone: str(contact.uuid) for contact in Contact.objects.all()}
    merged = a.workspace_api.post(f"/contacts/{ids[kept.phone]}/merge", {"contact": ids[gone.phone]})
    assert merged.json()["data"]["opted_out"] is not kept_is_newer
    say(a, "STOP" if kept_is_newer else "START", moment(-15), person=gone)
    assert is_out() is not kept_is_newer
