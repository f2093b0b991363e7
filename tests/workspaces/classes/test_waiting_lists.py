"""Waiting lists of full classes: each freed seat goes to the first who waits, once."""

from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest
from django.utils.timezone import now

from agency.actors import SYSTEM
from tests import furnished
from tests.factories import ClassSessionFactory
from tests.parallel import at_once
from tests.tenants import Tenant, message
from tests.workspaces.classes.people import contacts
from tests.workspaces.topics import recorded_events, subscribe_to
from workspaces.classes.models import ClassSession, WaitingListEntry
from workspaces.classes.services import (
    ClassIsFull,
    ParticipantNotFound,
    add_participant,
    change_class,
    join_waiting_list,
    remove_participant,
)
from workspaces.classes.services.waiting_lists import MOST_WAITING, ClassHasFreeSeats, ContactHasASeat
from workspaces.classes.tasks import complete_ended, fill_seats
from workspaces.contacts.models import Contact
from workspaces.contacts.services import ContactNotFound, merge_contacts, remove_contact

a, b = furnished.a_with_customer, furnished.b_with_customer


def full_class(a: Tenant, people: list[Contact], *, seats: int = 1, **fields: Any) -> ClassSession:
    """A class whose seats the first people have, and for which the others wait in their order."""
    session = ClassSessionFactory.create(workspace=a.workspace, capacity=seats, **fields)
    for person in people[:seats]:
        add_participant(session=session, contact=person, now=now())
    for person in people[seats:]:
        join_waiting_list(session=session, contact=person, now=now())
    return session


def seated(session: ClassSession) -> list[str]:
    session.refresh_from_db()
    names = [seat.contact.name for seat in session.participants.select_related("contact").order_by("id")]
    assert session.participants_count == len(names) <= session.capacity
    return names


def waiting(session: ClassSession) -> list[str]:
    return [entry.contact.name for entry in session.waiting.select_related("contact").order_by("id")]


@pytest.mark.django_db
def test_contacts_wait_in_order_and_move_up_by_themselves(a: Tenant, b: Tenant) -> None:
    session = ClassSessionFactory.create(workspace=a.workspace, capacity=1)
    path, people = f"/classes/{session.uuid}", contacts(a.workspace, 4)
    bodies = [{"contact": str(person.uuid)} for person in people]
    early = a.workspace_api.post(f"{path}/waiting-list", bodies[0])
    assert (early.status_code, message(early)) == (409, "This class has free seats.")
    a.workspace_api.post(f"{path}/participants", bodies[0])
    again = a.workspace_api.post(f"{path}/waiting-list", bodies[0])
    assert (again.status_code, message(again)) == (409, "This contact has a seat in this class.")
    answers = [a.workspace_api.post(f"{path}/waiting-list", body) for body in (*bodies[1:], bodies[1])]
    assert [answer.status_code for answer in answers] == [201, 201, 201, 200]
    entry = answers[0].json()["data"]
    assert entry == {
        "contact": {"id": str(people[1].uuid), "name": "Contact 1", "phone": None},
        "created_at": entry["created_at"],
    }
    page = a.workspace_api.get(f"{path}/waiting-list").json()
    assert [row["contact"]["name"] for row in page["data"]] == ["Contact 1", "Contact 2", "Contact 3"]
    assert a.workspace_api.delete(f"{path}/waiting-list/{people[2].uuid}").json() == {"data": {"deleted": True}}
    gone = a.workspace_api.delete(f"{path}/waiting-list/{people[2].uuid}")
    assert (gone.status_code, message(gone)) == (404, "This contact is not on the waiting list.")
    subscribe_to(a.workspace, "class.participant_added", "class.participant_removed")
    a.workspace_api.delete(f"{path}/participants/{people[0].uuid}")
    assert (seated(session), waiting(session)) == (["Contact 1"], ["Contact 3"])
    told = [(topic, data["contact"]["name"]) for topic, data in recorded_events(a.workspace)]
    assert told == [("class.participant_removed", "Contact 0"), ("class.participant_added", "Contact 1")]
    assert b.workspace_api.get(f"{path}/waiting-list").status_code == 404


@pytest.mark.django_db
def test_more_seats_go_to_the_waiting_list_and_never_fewer_than_are_taken(a: Tenant) -> None:
    session = full_class(a, contacts(a.workspace, 5), seats=2)
    path = f"/classes/{session.uuid}"
    fewer = a.workspace_api.patch(path, {"capacity": 1})
    assert fewer.status_code == 422
    assert message(fewer) == "The capacity field must be at least 2, the number of seats taken."
    more = a.workspace_api.patch(path, {"capacity": 4}).json()["data"]
    assert (more["capacity"], more["participants_count"]) == (4, 4)
    assert (len(seated(session)), waiting(session)) == (4, ["Contact 4"])


@pytest.mark.django_db
def test_a_list_ends_with_its_class(a: Tenant) -> None:
    people = contacts(a.workspace, 3)
    cancelled, over, begun = (full_class(a, people) for _ in range(3))
    a.workspace_api.post(f"/classes/{cancelled.uuid}/cancel")
    refused = a.workspace_api.post(f"/classes/{cancelled.uuid}/waiting-list", {"contact": str(people[2].uuid)})
    assert (refused.status_code, message(refused)) == (409, "This class is cancelled.")
    began, ends = now() - timedelta(hours=1), now() + timedelta(hours=1)
    ClassSession.objects.filter(pk=begun.pk).update(starts_at=began, ends_at=ends)
    remove_participant(session=begun, contact=people[0], now=now(), by=SYSTEM)
    assert (seated(begun), len(waiting(begun))) == ([], 2)  # nobody is sent to a class that has begun
    ClassSession.objects.filter(pk=over.pk).update(starts_at=began, ends_at=now() - timedelta(minutes=1))
    complete_ended()
    assert (waiting(cancelled), waiting(over)) == ([], [])


@pytest.mark.django_db
def test_a_full_list_takes_nobody_else(a: Tenant) -> None:
    people = contacts(a.workspace, 2)
    session = full_class(a, people[:1])
    others = Contact.objects.bulk_create(Contact(workspace=a.workspace, name="x") for _ in range(MOST_WAITING))
    WaitingListEntry.objects.bulk_create(WaitingListEntry(session=session, contact=one) for one in others)
    refused = a.workspace_api.post(f"/classes/{session.uuid}/waiting-list", {"contact": str(people[1].uuid)})
    assert (refused.status_code, message(refused)) == (
        409,
        "The waiting list of this class is full: 500 contacts wait.",
    )


@pytest.mark.django_db
def test_a_removed_contact_makes_room_and_waits_no_longer(a: Tenant) -> None:
    people = contacts(a.workspace, 4)
    session = full_class(a, people)
    remove_contact(contact=people[1], now=now(), by=SYSTEM)
    remove_contact(contact=people[0], now=now(), by=SYSTEM)
    assert (seated(session), waiting(session)) == (["Contact 2"], ["Contact 3"])


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("kept", "gone", "seats", "places"),
    [
        (0, 1, ["Contact 0"], ["Contact 2", "Contact 3"]),  # who has a seat waits no longer
        (1, 0, ["Contact 1"], ["Contact 2", "Contact 3"]),
        (3, 1, ["Contact 0"], ["Contact 3", "Contact 2"]),  # the better place counts
        (1, 3, ["Contact 0"], ["Contact 1", "Contact 2"]),
    ],
)
def test_a_merged_contact_keeps_the_best(a: Tenant, kept: int, gone: int, seats: list[str], places: list[str]) -> None:
    people = contacts(a.workspace, 4)
    session = full_class(a, people)
    merge_contacts(contact=people[kept], other=people[gone], now=now(), by=SYSTEM)
    assert (seated(session), waiting(session)) == (seats, places)


@pytest.mark.django_db
def test_two_seats_of_a_merged_contact_make_room_for_one(a: Tenant) -> None:
    people = contacts(a.workspace, 4)
    session = full_class(a, people, seats=2)
    merge_contacts(contact=people[0], other=people[1], now=now(), by=SYSTEM)
    assert (seated(session), waiting(session)) == (["Contact 0", "Contact 2"], ["Contact 3"])


@pytest.mark.django_db
def test_a_seat_that_was_left_free_is_filled_by_the_task(a: Tenant) -> None:
    people = contacts(a.workspace, 3)
    session = full_class(a, people)
    people[0].delete()
    assert (seated(session), len(waiting(session))) == ([], 2)
    fill_seats()
    assert (seated(session), waiting(session)) == (["Contact 1"], ["Contact 2"])


SEATS, CLIENTS = 10, 50


@pytest.mark.django_db(transaction=True)
def test_fifty_clients_on_freed_seats_oversell_nothing_and_lose_nobody(a: Tenant) -> None:
    people = contacts(a.workspace, SEATS + CLIENTS)
    session = full_class(a, people[: SEATS + 20], seats=SEATS)
    removed, merged = people[SEATS + 18], (people[SEATS + 17], people[SEATS + 19])

    def change(number: int) -> None:
        person = people[SEATS + number]
        if number < SEATS:
            remove_participant(session=session, contact=people[number], now=now(), by=SYSTEM)
        elif number == SEATS:
            change_class(session=session, capacity=SEATS + 3, now=now(), by=SYSTEM)
        elif number == SEATS + 1:
            remove_contact(contact=removed, now=now(), by=SYSTEM)
        elif number == SEATS + 2:
            merge_contacts(contact=merged[0], other=merged[1], now=now(), by=SYSTEM)
        elif number >= 20:
            with suppress(ClassIsFull):
                add_participant(session=session, contact=person, now=now())
            with suppress(ClassHasFreeSeats, ContactHasASeat):
                join_waiting_list(session=session, contact=person, now=now())
        with suppress(ParticipantNotFound, ContactNotFound):
            if number in (30, 31):
                remove_participant(session=session, contact=person, now=now(), by=SYSTEM)

    at_once(change, times=CLIENTS, threads=25)
    names = seated(session)
    assert len(names) == SEATS + 3
    assert set(names) <= {one.name for one in people[SEATS : SEATS + 20]}  # nobody comes before those who wait
    everyone = {*names, *waiting(session)}
    assert len(everyone) == len(names) + len(waiting(session))
    first = {one.name for one in people[SEATS : SEATS + 20]} - {removed.name, merged[1].name}
    assert first <= everyone
