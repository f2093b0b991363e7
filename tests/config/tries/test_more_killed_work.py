"""Rows of contacts, messages and agencies whose work kills its process: it ends, says so, and holds up no other."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils.timezone import now

from agency.models import Domain, Mail, PasswordResetRequest, PendingSignUp
from agency.models.notifications import StateCheckPosition
from channelconnect.models import Unsubscription
from config.tries.counting import MOST_TRIES
from tests.config.tries.killing import DEADLY, kills_of, next_number, set_aside
from tests.factories import (
    ChannelFactory,
    ContactImportFactory,
    DomainFactory,
    PendingSignUpFactory,
    SegmentFactory,
    UserFactory,
    WorkspaceFactory,
)
from tests.factories.flows import a_flow, a_step
from tests.processes.preloaded import Preloaded
from tests.tenants import Tenant
from tests.workspaces.automations.engine.test_appointments import BOOK, a_service
from tests.workspaces.automations.engine.test_engine import on, say, sent
from tests.workspaces.conversations.facts import moment, person, receive, received
from workspaces.appointments.models import Appointment
from workspaces.automations.models import TriggerEvent
from workspaces.contacts.models import Contact, ContactImport, Segment
from workspaces.conversations.models import Conversation, Message, Note
from workspaces.conversations.models.messages import ParkedChange
from workspaces.subaccounts.models import Channel

pytestmark = pytest.mark.django_db(transaction=True)


def test_an_import_that_kills_its_worker_fails_and_others_are_taken_in(a: Tenant, preloaded: Preloaded) -> None:
    with next_number("contacts_contactimport"):
        deadly = ContactImportFactory.create(workspace=a.workspace, content=b"name,phone\nAda,+49301234567\n")
    other = ContactImportFactory.create(workspace=a.workspace, content=b"name,phone\nBob,+49301234568\n")
    ContactImport.objects.update(status="running", mapping=["name", "phone"])

    kills = kills_of(preloaded, "import_contacts", at='SELECT "contacts_contactimportpiece"', value=DEADLY)

    deadly.refresh_from_db()
    other.refresh_from_db()
    assert (kills, deadly.status, deadly.pieces.exists()) == (MOST_TRIES, "failed", False)
    assert (other.status, other.created) == ("completed", 1)
    assert set_aside("contact import") == {str(DEADLY)}


def test_a_request_for_a_password_that_kills_the_sender_of_e_mails_is_left_out(a: Tenant, preloaded: Preloaded) -> None:
    user = UserFactory.create(email="ada@example.com")
    deadly = PasswordResetRequest.objects.create(email="deadly@example.com")
    PasswordResetRequest.objects.create(email=user.email)

    kills = kills_of(preloaded, "look_up_addresses", at='FROM "agency_user"', value=deadly.email)

    assert (kills, PasswordResetRequest.objects.exists()) == (MOST_TRIES, False)
    assert Mail.objects.get().user == user
    assert set_aside("password reset") == {str(deadly.pk)}


def test_a_sign_up_that_kills_the_sender_of_e_mails_is_left_out(a: Tenant, preloaded: Preloaded) -> None:
    deadly, other = (PendingSignUpFactory.create(agency=a.agency, email=f"{name}@example.com") for name in "ab")

    kills = kills_of(preloaded, "look_up_addresses", at='FROM "agency_user"', value=deadly.email)

    assert (kills, PendingSignUp.objects.get()) == (MOST_TRIES, other)
    assert Mail.objects.get().recipient == other.email
    assert set_aside("sign-up") == {str(deadly.pk)}


def test_a_domain_whose_check_is_killed_is_put_off_and_others_are_checked(a: Tenant, preloaded: Preloaded) -> None:
    for host in ("deadly.localhost", "other.localhost"):
        DomainFactory.create(agency=a.agency, host=host, is_verified=False)
    Domain.objects.update(next_check_at=now())

    kills = kills_of(
        preloaded, "check_domains", at='FROM "agency_domain"', value="deadly.localhost", LOCALHOST_IS_PROVEN=True
    )

    deadly, other = Domain.objects.order_by("host")
    assert (kills, deadly.is_verified, other.is_verified) == (MOST_TRIES, False, True)
    assert deadly.next_check_at
    assert deadly.next_check_at > now() + timedelta(hours=40)
    assert set_aside("domain check") == {str(deadly.pk)}


def test_a_subscription_that_kills_its_worker_is_given_up(a: Tenant, preloaded: Preloaded) -> None:
    deadly = Unsubscription.objects.create(
        workspace=a.workspace,
        reason="moved",
        platform="facebook",
        container_id="1",
        token="a",  # no secret
        status="waiting",
        due_at=now(),
    )

    # Nothing is configured: that is what the process dies of when it is to write it down.
    at = 'UPDATE "channelconnect_unsubscription"'
    kills = kills_of(preloaded, "take_subscriptions_back", at=at, value="provider_not_configured")

    deadly.refresh_from_db()
    assert (kills, deadly.status, deadly.fault, deadly.token) == (MOST_TRIES, "given_up", "broke_off", None)
    assert set_aside("unsubscription") == {str(deadly.pk)}


def a_parked_removal(channel: Channel) -> Message:
    """A message of ours whose removal was told before its id was known."""
    contact = Contact.objects.create(workspace=channel.workspace, name="Ada", search_key="ada")
    conversation = Conversation.objects.create(workspace=channel.workspace, channel=channel, contact=contact)
    message = Message.objects.create(
        workspace_id=channel.workspace_id,
        channel_id=channel.pk,
        conversation=conversation,
        direction="out",
        status="sent",
        type="text",
        provider_message_id="1",
        provider_time=now(),
    )
    values: Any = {"channel_id": channel.pk, "message_id": "1", "kind": "removal", "at": now(), "parked_at": now()}
    ParkedChange.objects.create(**values)
    return message


def test_parked_changes_of_a_channel_that_kill_their_worker_are_left_and_others_applied(
    a: Tenant, preloaded: Preloaded
) -> None:
    with next_number("subaccounts_channel"):
        deadly, other = (a_parked_removal(ChannelFactory.create(workspace=a.workspace)) for _ in range(2))

    kills = kills_of(
        preloaded, "apply_parked_changes", at="DELETE FROM conversations_parkedchange", value=f"{{{DEADLY}}}"
    )

    deadly.refresh_from_db()
    other.refresh_from_db()
    assert (kills, deadly.removed_at is None, other.removed_at is None) == (MOST_TRIES, True, False)
    assert ParkedChange.objects.get().channel_id == DEADLY
    assert set_aside("parked changes") == {str(DEADLY)}
    assert kills_of(preloaded, "apply_parked_changes", at="DELETE", value=f"{{{DEADLY}}}") == 0


def test_a_contact_whose_automations_kill_their_worker_is_given_up_and_others_are_answered(
    a: Tenant, preloaded: Preloaded
) -> None:
    on(a, a_flow(a_step("note", "add_note", text="Note about {{contact.name}}")))
    deadly, other = person(1, name="Deadly"), person(2, name="Other")
    receive(*(received(a.channel, person=one, text="hello") for one in (deadly, other)))

    kills = kills_of(preloaded, "run_automations", at='INSERT INTO "conversations_note"', value="Note about Deadly")

    contact = Contact.objects.get(name="Deadly")
    assert kills == 1 + MOST_TRIES  # once together with the other
    assert list(Note.objects.values_list("text", flat=True)) == ["Note about Other"]
    event = TriggerEvent.objects.get(contact_id=contact.pk)
    assert (event.outcome, event.reason) == ("nothing", "internal_error")
    assert set_aside("automations") == {str(contact.pk)}


def test_a_booking_that_kills_its_worker_is_given_up_and_the_automation_goes_on(
    a: Tenant, preloaded: Preloaded
) -> None:
    a_service(a)
    on(a, BOOK)
    say(a, "book")
    with next_number("automations_internalcall"):
        receive(received(a.channel, text="1", at=moment(5)))
        kills = kills_of(
            preloaded, "make_automation_calls", at='INSERT INTO "appointments_appointment"', value=a.workspace.pk
        )

    assert kills == 1 + MOST_TRIES  # once at once, without a counted try
    assert not Appointment.objects.exists()
    assert sent()[-1] == "A colleague will write to you."
    assert set_aside("automation-calls") == {str(DEADLY)}


def test_segments_whose_counting_is_killed_keep_their_numbers_and_others_are_counted(
    a: Tenant, preloaded: Preloaded
) -> None:
    with next_number("subaccounts_workspace"):
        workspace = WorkspaceFactory.create(agency=a.agency)
    deadly = SegmentFactory.create(workspace=workspace, filter={"created_after": "2020-01-01T00:00:00Z"})
    other = SegmentFactory.create(workspace=a.workspace, filter=deadly.filter)
    Segment.objects.filter(pk=deadly.pk).update(counted_size=7, recount_asked_at=now() - timedelta(minutes=1))
    Segment.objects.filter(pk=other.pk).update(counted_size=7, recount_asked_at=now())

    kills = kills_of(preloaded, "count_segments", at="FROM contacts_contact AS contact", value=DEADLY)

    deadly.refresh_from_db()
    other.refresh_from_db()
    assert (kills, deadly.counted_size, deadly.recount_asked_at) == (MOST_TRIES, 7, None)
    assert (other.counted_size, other.recount_asked_at) == (a.workspace.contacts.count(), None)
    assert set_aside("segment sizes") == {str(DEADLY)}


def test_a_check_of_states_that_kills_its_worker_is_left_out_and_others_are_done(
    a: Tenant, admin: Client, preloaded: Preloaded
) -> None:
    deadly = "workspace.broadcast_held"

    kills = kills_of(preloaded, "check_states", at='"agency_notificationevent"', value=deadly)

    assert kills == MOST_TRIES
    assert len(set_aside("state check")) == 1
    assert StateCheckPosition.objects.exclude(passed_at=None).exists()
    assert kills_of(preloaded, "check_states", at='"agency_notificationevent"', value=deadly) == 0
