"""A contact that becomes part of another takes its seats along."""

import pytest
from django.utils.timezone import now

from agency.actors import SYSTEM
from tests.factories import ClassSessionFactory, ContactFactory
from tests.tenants import Tenant
from workspaces.classes.services import add_participant
from workspaces.contacts.services import merge_contacts

pytestmark = pytest.mark.django_db


def test_seats_move_and_two_of_one_class_become_one(a: Tenant) -> None:
    kept, gone = (ContactFactory.create(workspace=a.workspace) for _ in range(2))
    both, one = (ClassSessionFactory.create(workspace=a.workspace, capacity=3) for _ in range(2))
    for session, contact in ((both, kept), (both, gone), (one, gone)):
        add_participant(session=session, contact=contact, now=now())
    merge_contacts(contact=kept, other=gone, now=now(), by=SYSTEM)
    for session in (both, one):
        session.refresh_from_db()
        assert [seat.contact_id for seat in session.participants.all()] == [kept.pk]
        assert session.participants_count == 1
