"""Work that kills its process whenever it is begun ends after a few tries, says so, and holds up no other."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils.timezone import now

from agency.models import BulkOperation, Export, Mail, Notification, NotificationEvent, User
from agency.services.bulk import BROKE_OFF
from channelconnect.models import ChannelCredential, TemplateSync, Unsubscription
from channelconnect.services.subscriptions import MOST_TRIES as MOST_UNSUBSCRIPTIONS
from channelconnect.services.subscriptions import unsubscribe_next
from config.tries.counting import MOST_TRIES, begin_tries, run_counted
from config.tries.models import BegunWork
from tests.agency.jobs.asking import EXPORT, begin, choice, newest_export
from tests.config.tries.killing import DEADLY, kills_of, next_number, set_aside
from tests.factories import ChannelFactory, UserFactory, WorkspaceFactory, many_workspaces
from tests.processes.preloaded import Preloaded
from tests.tenants import Tenant
from workspaces.contacts.models import Contact
from workspaces.conversations.models import Conversation, MediaFetch, Message
from workspaces.subaccounts.models import Channel, Workspace

pytestmark = pytest.mark.django_db(transaction=True)


def a_fetch(channel: Channel, **fields: Any) -> MediaFetch:
    """A file that came on a channel without a token, which is the reason that the fetch gives."""
    contact = Contact.objects.create(workspace=channel.workspace, name="Ada", search_key="ada")
    conversation = Conversation.objects.create(workspace=channel.workspace, channel=channel, contact=contact)
    message = Message.objects.create(
        workspace_id=channel.workspace_id,
        channel_id=channel.pk,
        conversation=conversation,
        direction="in",
        status="received",
        type="image",
        provider_time=now(),
    )
    return MediaFetch.objects.create(message=message, reference="1", **{"channel_id": channel.pk, **fields})


def test_a_file_that_kills_its_fetcher_is_given_up_and_others_are_tried(a: Tenant, preloaded: Preloaded) -> None:
    others = [a_fetch(ChannelFactory.create(workspace=a.workspace)) for _ in range(3)]
    deadly = a_fetch(ChannelFactory.create(workspace=a.workspace), channel_id=DEADLY)

    kills = kills_of(preloaded, "fetch_media", at="channelconnect_channelcredential", value=DEADLY)

    deadly.refresh_from_db()
    assert (kills, deadly.status, deadly.fault) == (MOST_TRIES, "failed", "broke_off")
    for other in others:
        other.refresh_from_db()
        assert (other.status, other.fault) == ("pending", "channel_not_connected")
    assert set_aside("media fetch") == {str(deadly.pk)}


def test_templates_whose_synchronisation_is_killed_are_set_aside(a: Tenant, preloaded: Preloaded) -> None:
    TemplateSync.objects.create(container_id="deadly", due_at=now() - timedelta(hours=1))
    TemplateSync.objects.create(container_id="other", due_at=now())

    kills = kills_of(preloaded, "list_templates", at="channelconnect_channelcredential", value="deadly")

    deadly, other = TemplateSync.objects.order_by("container_id")
    assert (kills, deadly.fault) == (MOST_TRIES, "broke_off")
    assert deadly.due_at > now() + timedelta(hours=40)
    assert (other.fault, other.synced_at is None) == ("", False)
    assert set_aside("template list") == {"deadly"}


def test_an_access_check_that_is_killed_is_set_aside(a: Tenant, preloaded: Preloaded) -> None:
    with next_number("subaccounts_channel"):
        channel = ChannelFactory.create(workspace=a.workspace)
    credential = ChannelCredential.objects.create(
        channel=channel, token="", container_id="1", access_check_due_at=now()
    )

    kills = kills_of(preloaded, "check_access", at='FROM "subaccounts_channel"', value=DEADLY)

    credential.refresh_from_db()
    assert (kills, credential.access_check_due_at) == (MOST_TRIES, None)
    assert set_aside("access check") == {str(credential.pk)}


def an_operation(browser: Client) -> BulkOperation:
    return begin(browser, choice("sub_accounts.suspend"), reason="")


def test_a_bulk_change_that_kills_its_worker_stops_and_others_are_done(
    a: Tenant, admin: Client, preloaded: Preloaded
) -> None:
    a.workspace.refresh_from_db()
    with next_number("subaccounts_workspace"):
        WorkspaceFactory.create(agency=a.agency)
    Workspace.objects.of(a.agency).update(owner_pending_since=None)
    deadly, other = an_operation(admin), begin(admin, choice("sub_accounts.write", a.workspace), text="Hi")

    kills = kills_of(preloaded, "work_on_jobs", at='UPDATE "subaccounts_workspace"', value=DEADLY)

    deadly.refresh_from_db()
    other.refresh_from_db()
    assert (kills, deadly.state, deadly.stopped_because) == (MOST_TRIES, "failed", BROKE_OFF)
    assert (other.state, other.succeeded) == ("completed", 1)
    assert set_aside("bulk operation") == {str(deadly.pk)}
    assert BROKE_OFF in admin.get(f"/console/bulk-changes/{deadly.uuid}").content.decode()


def test_an_export_that_kills_its_worker_stops_and_others_are_written(
    a: Tenant, admin: Client, preloaded: Preloaded
) -> None:
    many_workspaces(a.agency, 2)
    admin.post(EXPORT, {"kind": "sub-accounts", "format": "csv", "query": ""})
    Export.objects.filter(pk=newest_export().pk).update(id=DEADLY)
    admin.post(EXPORT, {"kind": "sub-accounts", "format": "jsonl", "query": ""})

    kills = kills_of(preloaded, "work_on_jobs", at='INSERT INTO "agency_exportpart"', value=DEADLY)

    deadly = Export.objects.get(pk=DEADLY)
    assert (kills, deadly.state, deadly.stopped_because) == (MOST_TRIES, "failed", BROKE_OFF)
    assert set(Export.objects.exclude(pk=DEADLY).values_list("state", flat=True)) == {"completed"}
    assert set_aside("export") == {str(DEADLY)}


def an_event(agency: Any, user: User, **fields: Any) -> NotificationEvent:
    values = {"kind": "export.ended", "key": str(NotificationEvent.objects.count()), "created_at": now()}
    return NotificationEvent.objects.create(agency=agency, only_user=user, **values, **fields)


def a_notification(event: NotificationEvent, user: User, way: str) -> Notification:
    return Notification.objects.create(
        user=user, event=event, area=event.agency.uuid, kind=event.kind, created_at=now(), way=way, mail_due_at=now()
    )


def test_an_event_whose_notification_is_killed_is_set_aside(a: Tenant, admin: Client, preloaded: Preloaded) -> None:
    user = User.objects.get(pk=admin.session["_auth_user_id"])
    deadly, other = an_event(a.agency, user, pk=DEADLY), an_event(a.agency, user, pk=DEADLY + 1)

    kills = kills_of(preloaded, "notify", at='INSERT INTO "agency_notification"', value=DEADLY)

    deadly.refresh_from_db()
    other.refresh_from_db()
    assert (kills, deadly.told_at is None, other.told_at is None) == (MOST_TRIES, False, False)
    assert set_aside("notification") == {str(DEADLY)}


@pytest.mark.parametrize(("way", "work"), [("at_once", "mail_at_once"), ("digest", "mail_digest")])
def test_a_notification_e_mail_whose_queueing_is_killed_is_set_aside(
    a: Tenant, admin: Client, preloaded: Preloaded, way: str, work: str
) -> None:
    user = User.objects.get(pk=admin.session["_auth_user_id"])
    nobody = UserFactory.create(pk=DEADLY)
    deadly = a_notification(an_event(a.agency, nobody, told_at=now()), nobody, way)
    other = a_notification(an_event(a.agency, user, told_at=now()), user, way)

    kills = kills_of(preloaded, work, at='FROM "agency_user"', value=DEADLY)

    deadly.refresh_from_db()
    other.refresh_from_db()
    assert (kills, deadly.way, deadly.mail_due_at) == (MOST_TRIES, "console", None)
    assert other.mail_due_at is None
    assert set_aside("notification e-mail") == {str(deadly.pk)}


def test_an_e_mail_that_kills_its_sender_is_given_up(a: Tenant, preloaded: Preloaded) -> None:
    deadly = Mail.objects.create(
        kind=Mail.Kind.PASSWORD_RESET,
        user=UserFactory.create(email="ada@example.com"),
        recipient="ada@example.com",
        next_attempt_at=now(),
    )

    kills = kills_of(preloaded, "send_mail", at='FROM "agency_mail"', value="ada@example.com")

    deadly.refresh_from_db()
    assert (kills, deadly.failure) == (MOST_TRIES, "interrupted")
    assert set_aside("e-mail") == {str(deadly.pk)}


def test_a_subscription_whose_last_try_died_is_given_up(a: Tenant) -> None:
    row = Unsubscription.objects.create(
        workspace=a.workspace,
        reason="moved",
        platform="facebook",
        container_id="1",
        token="a",  # no secret
        status="waiting",
        tries=MOST_UNSUBSCRIPTIONS,
        due_at=now() - timedelta(seconds=1),
    )

    assert unsubscribe_next(now=now())

    row.refresh_from_db()
    assert (row.status, row.fault) == ("given_up", "broke_off")


def test_what_ends_by_itself_or_by_an_exception_is_not_counted() -> None:
    def refuse() -> None:
        raise ZeroDivisionError

    for _ in range(MOST_TRIES + 2):
        assert run_counted(lambda: 3, kind="test", key=1, give_up=lambda: 4) == 3
        with pytest.raises(ZeroDivisionError):
            run_counted(refuse, kind="test", key=2, give_up=refuse)

    assert not BegunWork.objects.exists()


def test_what_was_set_aside_is_tried_again_when_it_is_asked_for_a_day_later() -> None:
    for _ in range(MOST_TRIES):
        begin_tries(kind="test", keys=[1])
    assert run_counted(lambda: 3, kind="test", key=1, give_up=lambda: 4) == 4
    assert run_counted(lambda: 3, kind="test", key=1, give_up=lambda: 4) == 4

    BegunWork.objects.update(set_aside_at=now() - timedelta(days=1, seconds=1))

    assert run_counted(lambda: 3, kind="test", key=1, give_up=lambda: 4) == 3
    assert not BegunWork.objects.exists()
