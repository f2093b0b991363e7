"""People on channels become contacts: each once, whoever tells of them and how often."""

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from tests.factories import ChannelFactory
from tests.parallel import at_once
from workspaces.contacts.models import Contact, ContactIdentity
from workspaces.contacts.services import ChannelPerson, MatchedContacts, find_or_create_contacts
from workspaces.subaccounts.models import Channel

pytestmark = pytest.mark.slow


@pytest.fixture
def channel(db: None) -> Channel:
    return ChannelFactory.create()


def somebody(channel: Channel, external_id: str = "4915112345678", **more: str) -> ChannelPerson:
    return ChannelPerson(channel_id=channel.pk, workspace_id=channel.workspace_id, external_id=external_id, **more)


def contact_of(person: ChannelPerson) -> Contact:
    found = look_for(person)
    return Contact.objects.get(pk=found.contacts[person])


def look_for(*people: ChannelPerson) -> MatchedContacts:
    with transaction.atomic():
        return find_or_create_contacts(people=people, now=now())


def test_a_new_person_becomes_a_contact_with_what_the_network_tells(channel: Channel) -> None:
    person = somebody(channel, phone="+4915112345678", name="Ada", username="ada")
    found = look_for(person)
    assert found.created == {found.contacts[person]}
    contact = Contact.objects.get()
    assert (contact.name, contact.phone, contact.country) == ("Ada", "+4915112345678", "DE")
    assert contact.timezone == "Europe/Berlin"
    assert contact.search_key == "ada\n+4915112345678\n"
    assert contact.channels == {"whatsapp": "4915112345678", "facebook": None, "instagram": None}
    assert look_for(person) == MatchedContacts(found.contacts)


def test_any_number_of_people_take_a_few_statements(channel: Channel) -> None:
    people = [somebody(channel, f"psid-{number}") for number in range(300)]
    people += [somebody(channel, f"wa-{number}", phone=f"+49151123{number:05d}") for number in range(300)]
    with transaction.atomic(), CaptureQueriesContext(connection) as first:
        made = find_or_create_contacts(people=[*people, *people], now=now())
    assert len(set(made.contacts.values())) == len(made.created) == 600
    assert len(first) <= 4
    with transaction.atomic(), CaptureQueriesContext(connection) as again:
        assert find_or_create_contacts(people=people, now=now()).contacts == made.contacts
    assert len(again) == 1


def rows_walked() -> int:
    """How many rows of contacts and channels this transaction has read without an index."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT sum(seq_tup_read) FROM pg_stat_xact_user_tables"
            " WHERE relname IN ('contacts_contact', 'subaccounts_channel')"
        )
        return int(cursor.fetchone()[0])


def test_many_people_come_on_a_connection_that_knows_the_tables_as_empty(channel: Channel) -> None:
    # What a connection has planned for nobody stays until somebody analyses the tables.
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE contacts_contact; ANALYZE contacts_contactidentity; ANALYZE subaccounts_channel")
    ChannelFactory.create_batch(20)
    look_for(somebody(channel, "the-first"))
    before = rows_walked()
    assert len(look_for(*[somebody(channel, f"psid-{number}") for number in range(600)]).created) == 600
    assert rows_walked() - before < 600


def test_the_contact_that_has_the_number_is_found(channel: Channel) -> None:
    known = Contact.objects.create(workspace=channel.workspace, phone="+4915112345678", search_key="\n+4915112345678\n")
    contact = contact_of(somebody(channel, phone="+4915112345678", name="Ada"))
    assert contact == known
    assert (contact.name, contact.search_key) == ("Ada", "ada\n+4915112345678\n")


def test_a_person_without_a_number_is_known_again_when_both_ids_are_told(channel: Channel) -> None:
    hidden = contact_of(somebody(channel, "", user_id="DE.1"))
    assert contact_of(somebody(channel, "4915112345678", user_id="DE.1", phone="+4915112345678")) == hidden
    assert contact_of(somebody(channel, "4915112345678")) == hidden
    hidden.refresh_from_db()
    assert hidden.phone == "+4915112345678"
    assert ContactIdentity.objects.count() == 1


def test_two_who_turn_out_to_be_one_become_one_contact(channel: Channel) -> None:
    contact_of(somebody(channel, "", user_id="DE.1", name="Ada"))
    visible = contact_of(somebody(channel, "4915112345678", phone="+4915112345678"))
    assert Contact.objects.count() == 2
    assert contact_of(somebody(channel, "4915112345678", user_id="DE.1")) == visible
    identity = ContactIdentity.objects.get()
    assert (identity.external_id, identity.user_id) == ("4915112345678", "DE.1")
    assert Contact.objects.get().name == "Ada"


def test_a_second_phone_number_of_two_who_become_one_is_kept(channel: Channel) -> None:
    hidden = contact_of(somebody(channel, "", user_id="DE.1"))
    Contact.objects.filter(pk=hidden.pk).update(phone="+4915100000002", attributes={"other_phone": "+4915100000003"})
    contact_of(somebody(channel, "4915112345678", phone="+4915112345678"))
    joined = contact_of(somebody(channel, "4915112345678", user_id="DE.1"))
    assert joined.phone == "+4915112345678"
    assert joined.attributes == {"other_phone": "+4915100000002", "other_phone_2": "+4915100000003"}


def test_a_hidden_person_whose_number_is_another_contacts_becomes_that_one(channel: Channel) -> None:
    customer = Contact.objects.create(
        workspace=channel.workspace, phone="+4915112345678", search_key="\n+4915112345678\n"
    )
    contact_of(somebody(channel, "", user_id="DE.1", name="Ada"))
    assert contact_of(somebody(channel, "", user_id="DE.1", phone="+4915112345678")) == customer
    assert Contact.objects.get().name == "Ada"


def test_a_name_that_somebody_gave_stays(channel: Channel) -> None:
    contact = contact_of(somebody(channel, name="ada99"))
    Contact.objects.filter(pk=contact.pk).update(name="Ada", search_key="ada\n\n")
    assert contact_of(somebody(channel, name="ada100")).name == "Ada"
    assert ContactIdentity.objects.get().name == "ada100"


def test_the_same_id_on_another_channel_is_another_person(channel: Channel) -> None:
    elsewhere = ChannelFactory.create(platform="facebook")
    assert contact_of(somebody(channel, "1")).workspace_id != contact_of(somebody(elsewhere, "1")).workspace_id


@pytest.mark.django_db(transaction=True)
def test_many_workers_with_the_same_people_make_each_once() -> None:
    channel = ChannelFactory.create()
    people = [somebody(channel, f"psid-{number}") for number in range(40)]
    people += [somebody(channel, f"wa-{number}", phone=f"+49151123{number:05d}") for number in range(40)]

    def work(number: int) -> dict[ChannelPerson, int]:
        return look_for(*(reversed(people) if number % 2 else people)).contacts

    answers = at_once(work, times=8)
    assert all(answer == answers[0] for answer in answers)
    assert Contact.objects.count() == ContactIdentity.objects.count() == 80
