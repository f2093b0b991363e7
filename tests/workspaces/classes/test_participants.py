"""Seats: never one more than there are, under any concurrency."""

from contextlib import suppress

import pytest
from django.db import DatabaseError, connection, transaction
from django.utils.timezone import now

from agency.actors import SYSTEM
from tests import furnished
from tests.factories import ClassSessionFactory
from tests.parallel import at_once
from tests.tenants import WORKSPACE_BASE, Api, Tenant, message
from tests.workspaces.classes.people import contacts
from tests.workspaces.topics import recorded_events, subscribe_to
from workspaces.classes.models import ClassSession, Participant
from workspaces.classes.services import ClassIsFull, ParticipantNotFound, add_participant, remove_participant
from workspaces.contacts.services import ContactNotFound, remove_contact

pytestmark = pytest.mark.slow

a, b = furnished.a_with_customer, furnished.b_with_customer

SEATS, BOOKINGS, THREADS, PATIENCE = 20, 200, 25, 10


def counted(session: ClassSession) -> int:
    """The number that the class shows, which is the number of its rows."""
    session.refresh_from_db()
    assert session.participants_count == session.participants.count()
    return session.participants_count


@pytest.mark.django_db
def test_a_contact_has_one_seat_and_frees_it(a: Tenant) -> None:
    session = ClassSessionFactory.create(workspace=a.workspace, capacity=2)
    path = f"/classes/{session.uuid}/participants"
    ada, bob, eve = contacts(a.workspace, 3)
    first, again = (a.workspace_api.post(path, {"contact": str(ada.uuid)}) for _ in range(2))
    assert (first.status_code, again.status_code) == (201, 200)
    seat = first.json()["data"]
    assert seat == {
        "contact": {"id": str(ada.uuid), "name": "Contact 0", "phone": None},
        "created_at": seat["created_at"],
    }
    assert again.json()["data"] == seat
    assert a.workspace_api.post(path, {"contact": str(bob.uuid)}).status_code == 201
    full = a.workspace_api.post(path, {"contact": str(eve.uuid)})
    assert (full.status_code, message(full)) == (409, "This class is full.")
    assert a.workspace_api.post(path, {"contact": str(ada.uuid)}).status_code == 200
    page = a.workspace_api.get(path).json()
    assert [row["contact"]["name"] for row in page["data"]] == ["Contact 0", "Contact 1"]
    assert page["meta"]["total"] == a.workspace_api.get(f"/classes/{session.uuid}").json()["data"]["participants_count"]
    assert a.workspace_api.delete(f"{path}/{ada.uuid}").json() == {"data": {"deleted": True}}
    assert message(a.workspace_api.delete(f"{path}/{ada.uuid}")) == "Participant not found."
    assert counted(session) == 1
    assert a.workspace_api.post(path, {"contact": str(eve.uuid)}).status_code == 201


@pytest.mark.django_db
def test_only_contacts_of_the_workspace_take_part(a: Tenant, b: Tenant) -> None:
    session = ClassSessionFactory.create(workspace=a.workspace)
    path, [foreign] = f"/classes/{session.uuid}/participants", contacts(b.workspace, 1)
    answer = a.workspace_api.post(path, {"contact": str(foreign.uuid)})
    assert (answer.status_code, message(answer)) == (404, "Contact not found.")
    assert message(a.workspace_api.delete(f"{path}/{foreign.uuid}")) == "Participant not found."
    assert message(b.workspace_api.get(path)) == "Class not found."


@pytest.mark.django_db
@pytest.mark.parametrize("status", ["cancelled", "completed"])
def test_a_class_that_is_over_takes_nobody_and_lets_nobody_go(a: Tenant, status: str) -> None:
    session = ClassSessionFactory.create(workspace=a.workspace)
    path, [ada, bob] = f"/classes/{session.uuid}/participants", contacts(a.workspace, 2)
    add_participant(session=session, contact=ada, now=now())
    ClassSession.objects.filter(pk=session.pk).update(status=status)
    for answer in (
        a.workspace_api.post(path, {"contact": str(bob.uuid)}),
        a.workspace_api.delete(f"{path}/{ada.uuid}"),
    ):
        assert (answer.status_code, message(answer)) == (409, f"This class is {status}.")
    assert counted(session) == 1


@pytest.mark.django_db(transaction=True)
def test_two_hundred_bookings_of_twenty_seats_seat_exactly_twenty(a: Tenant) -> None:
    session = ClassSessionFactory.create(workspace=a.workspace, capacity=SEATS)
    people, key = contacts(a.workspace, BOOKINGS), a.workspace_plaintext
    path = f"/classes/{session.uuid}/participants"

    def book(number: int) -> tuple[int, str]:
        """Once more where the server is too busy, as its answer asks for; it must not be so for long."""
        for _ in range(PATIENCE):
            answer = Api(WORKSPACE_BASE, key).post(path, {"contact": str(people[number].uuid)})
            if answer.status_code != 503:
                break
        return answer.status_code, "" if answer.status_code == 201 else message(answer)

    answers = at_once(book, times=BOOKINGS, threads=THREADS)
    assert (answers.count((201, "")), answers.count((409, "This class is full."))) == (SEATS, BOOKINGS - SEATS)
    assert counted(session) == SEATS


@pytest.mark.django_db(transaction=True)
def test_one_contact_who_books_many_times_at_once_has_one_seat(a: Tenant) -> None:
    session = ClassSessionFactory.create(workspace=a.workspace, capacity=SEATS)
    [person] = contacts(a.workspace, 1)
    new = at_once(lambda _: add_participant(session=session, contact=person, now=now())[1], times=10)
    assert sum(new) == counted(session) == 1


@pytest.mark.django_db(transaction=True)
def test_seats_change_hands_while_contacts_are_removed(a: Tenant) -> None:
    """Booking, freeing and removing whole contacts at once: nobody waits for another for ever, the count is right."""
    sessions = [ClassSessionFactory.create(workspace=a.workspace, capacity=3) for _ in range(2)]
    people = contacts(a.workspace, 12)

    def change(number: int) -> None:
        person = people[number % 12]
        for session in sessions if number % 2 else sessions[::-1]:
            with suppress(ClassIsFull, ContactNotFound):
                add_participant(session=session, contact=person, now=now())
        if number % 3 == 0:
            with suppress(ContactNotFound):
                remove_contact(contact=person, now=now(), by=SYSTEM)
        elif number % 3 == 1:
            for session in sessions:
                with suppress(ParticipantNotFound):
                    remove_participant(session=session, contact=person, now=now(), by=SYSTEM)

    at_once(change, times=24, threads=12)
    assert all(counted(session) <= 3 for session in sessions)


@pytest.mark.django_db
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE classes_classsession SET participants_count = 0",
        "UPDATE classes_classsession SET participants_count = 2",
        "UPDATE classes_classsession SET capacity = 0",
        """INSERT INTO classes_participant (session_id, contact_id, created_at)
           SELECT session_id, (SELECT max(id) FROM contacts_contact), now() FROM classes_participant""",
        "UPDATE classes_participant SET session_id = session_id + 1",
        """INSERT INTO classes_classsession (uuid, workspace_id, service_id, starts_at, ends_at, capacity,
               participants_count, status, created_at)
           SELECT gen_random_uuid(), workspace_id, service_id, starts_at, ends_at, 9, 3, 'scheduled', now()
           FROM classes_classsession""",
    ],
)
def test_the_database_sells_no_seat_that_is_not_there(a: Tenant, statement: str) -> None:
    session = ClassSessionFactory.create(workspace=a.workspace, capacity=1)
    ada, bob = contacts(a.workspace, 2)
    add_participant(session=session, contact=ada, now=now())
    with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)
    with pytest.raises(ClassIsFull):
        add_participant(session=session, contact=bob, now=now())
    assert counted(session) == 1


@pytest.mark.django_db
def test_a_removed_contact_frees_its_seat(a: Tenant) -> None:
    session = ClassSessionFactory.create(workspace=a.workspace, capacity=1)
    ada, bob = contacts(a.workspace, 2)
    add_participant(session=session, contact=ada, now=now())
    ada.delete()
    assert counted(session) == 0
    add_participant(session=session, contact=bob, now=now())
    assert Participant.objects.get().contact == bob


@pytest.mark.django_db
def test_a_contact_that_is_removed_over_the_api_frees_its_seats_and_that_is_told(a: Tenant) -> None:
    sessions = [ClassSessionFactory.create(workspace=a.workspace, capacity=1) for _ in range(2)]
    [ada] = contacts(a.workspace, 1)
    for session in sessions:
        add_participant(session=session, contact=ada, now=now())
    a.workspace_api.post(f"/classes/{sessions[1].uuid}/cancel")
    subscribe_to(a.workspace, "class.participant_removed")
    assert a.workspace_api.delete(f"/contacts/{ada.uuid}").status_code == 200
    assert [counted(session) for session in sessions] == [0, 0]
    [(topic, data)] = recorded_events(a.workspace)  # who had a seat in a cancelled class has lost nothing
    assert topic == "class.participant_removed"
    assert data["class"] == a.workspace_api.get(f"/classes/{sessions[0].uuid}").json()["data"]
    assert data["contact"]["id"] == str(ada.uuid)


@pytest.mark.django_db
def test_a_merged_contact_keeps_one_seat_in_each_class(a: Tenant) -> None:
    both, one = (ClassSessionFactory.create(workspace=a.workspace, capacity=3) for _ in range(2))
    kept, gone = contacts(a.workspace, 2)
    for session, contact in ((both, kept), (both, gone), (one, gone)):
        add_participant(session=session, contact=contact, now=now())
    subscribe_to(a.workspace, "class.participant_removed")
    assert a.workspace_api.post(f"/contacts/{kept.uuid}/merge", {"contact": str(gone.uuid)}).status_code == 200
    assert [counted(session) for session in (both, one)] == [1, 1]
    assert set(Participant.objects.values_list("contact", flat=True)) == {kept.pk}
    assert [data["class"]["id"] for _, data in recorded_events(a.workspace)] == [str(both.uuid)]
