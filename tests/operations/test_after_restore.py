"""A database that was restored: nothing leaves until `manage.py after_restore` has run, and nobody is sent to twice."""

from collections.abc import Callable
from contextlib import closing
from datetime import timedelta
from io import StringIO
from ipaddress import ip_network
from typing import Any

import pytest
from django.core.checks import Tags, run_checks
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils.timezone import now

from agency.models import NotificationEvent
from broadcasts.models import Broadcast, Recipient, Stage
from broadcasts.services.counts import add_counts
from broadcasts.services.progress import PreparationLoop
from broadcasts.services.recovery import NOT_BEGUN, PAUSED_BEFORE, UNDER_WAY
from channelconnect.models import Allowance, ChannelCredential, SenderRun
from channelconnect.sending.allowance import remaining_people
from config.leases.connections import open_connection
from config.postgresql.concurrency import AdvisoryLock
from config.recovery.identity import confirm, is_confirmed
from config.redis import client
from tests.broadcasts.making import EVERYBODY, bring_to, create
from tests.broadcasts.sending.broadcasts import a_broadcast, add_recipients, counts, open_window, people, rows_as_counts
from tests.broadcasts.under_way import a_message as shown_message
from tests.channelconnect.sending.conftest import StartSender
from tests.channelconnect.sending.messages import NUMBERS, a_channel, a_conversation, a_message, sends
from tests.config.metrics.conftest import Scrape
from tests.factories.flows import a_flow, a_step
from tests.rounds import wait_for_a_round
from tests.tenants import Tenant
from tests.waiting import until
from tests.webhooks.conftest import StartDispatcher, StartReceiver
from tests.webhooks.delivering import record_events, subscribe
from tests.workspaces.automations.engine.test_engine import on
from tests.workspaces.conversations.facts import person, receive, received
from tools.sandbox import RunningSandbox
from webhooks.models import DispatcherRun
from workspaces.automations.engine.loop import run_due
from workspaces.automations.models import AutomationRun, TriggerEvent
from workspaces.conversations.models import QueuedMessage
from workspaces.conversations.services.send_results import fail_queued_messages
from workspaces.subaccounts.models import Channel

pytestmark = pytest.mark.django_db(transaction=True)


def _execute(*statements: str) -> None:
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


def is_known() -> bool:
    with connection.cursor() as cursor:
        return is_confirmed(cursor)


def bring_back_a_dump() -> None:
    """Write the row anew, with every value that it had."""
    _execute(
        "CREATE TEMPORARY TABLE dumped AS SELECT * FROM recovery_databaseidentity",
        "DELETE FROM recovery_databaseidentity",
        "INSERT INTO recovery_databaseidentity SELECT * FROM dumped",
        "DROP TABLE dumped",
    )


def _as_if(change: str) -> Callable[[], None]:
    """Have the row say so as if it had been written like that."""
    return lambda: _execute(
        f"UPDATE recovery_databaseidentity SET {change}",  # noqa: S608  # texts of this file
        "BEGIN",
        f"UPDATE recovery_databaseidentity SET {change}",  # noqa: S608  # texts of this file
        "UPDATE recovery_databaseidentity SET written_by = xmin::text::bigint",
        "COMMIT",
    )


def bring_back_a_copy_of_the_disk() -> None:
    """Have Redis know of a position that the server has not reached."""
    [name] = client().keys("recovery:position:*")
    client().set(name, int(client().get(name)) + 10**9)  # type: ignore[arg-type]  # redis-py's own union


WAYS = {
    "a dump": bring_back_a_dump,
    "another server": _as_if("system_identifier = 1"),
    "a promoted standby": _as_if("timeline = timeline + 1"),
    "a copy of the disk": bring_back_a_copy_of_the_disk,
}


@pytest.fixture(autouse=True)
def _confirmed(transactional_db: None) -> Any:
    """A database that somebody has worked with; what Redis knows of it is right again afterwards."""
    assert is_known()
    yield
    with connection.cursor() as cursor:
        confirm(cursor)


def after_restore(*arguments: str) -> str:
    said = StringIO()
    call_command("after_restore", *arguments, stdout=said)
    return said.getvalue()


@pytest.mark.parametrize("way", WAYS)
def test_a_sender_claims_nothing_of_a_restored_database(
    way: str, channel: Channel, meta: RunningSandbox, start_sender: StartSender
) -> None:
    message = a_message(a_conversation(channel))
    WAYS[way]()

    start_sender()
    wait_for_a_round(SenderRun)

    assert not sends(meta, message)
    assert QueuedMessage.objects.filter(is_ready=True, run=None).count() == 1
    assert not is_known()
    after_restore("--nothing-lost")
    until(lambda: sends(meta, message), what="the message to leave")
    assert is_known()


def test_a_copy_of_the_disk_stays_doubted_when_it_has_caught_up() -> None:
    bring_back_a_copy_of_the_disk()
    assert not is_known()
    [name] = client().keys("recovery:position:*")
    client().delete(name)

    assert not is_known()


def test_a_position_that_was_reached_is_no_doubt() -> None:
    [name] = client().keys("recovery:position:*")
    for _ in range(3):
        before = int(client().get(name))  # type: ignore[arg-type]  # redis-py's own union
        a_row = "SELECT pg_logical_emit_message(false, 'test', 'so that the log grows', true)"
        with connection.cursor() as cursor:
            cursor.execute(a_row)
        assert is_known()
        assert int(client().get(name)) > before  # type: ignore[arg-type]  # redis-py's own union


def test_a_dispatcher_claims_nothing_of_a_restored_database(
    a: Tenant, start_dispatcher: StartDispatcher, start_receiver: StartReceiver, settings: Any
) -> None:
    settings.WEBHOOK_ALLOWED_NETWORKS = [ip_network("127.0.0.0/8")]
    receiver = start_receiver()
    subscribe(a, receiver)
    bring_back_a_dump()

    start_dispatcher()
    record_events(a)
    wait_for_a_round(DispatcherRun)

    assert not receiver.requests
    after_restore()
    until(lambda: receiver.requests, what="the delivery")


def test_nobody_is_sent_to_twice_after_a_restore(
    a: Tenant, channel: Channel, meta: RunningSandbox, start_sender: StartSender
) -> None:
    """A backup was made when all of it waited; since then all was sent that may have been."""
    broadcast = a_broadcast(channel)
    Broadcast.objects.update(message=shown_message("News"))
    due = add_recipients(broadcast, people(channel, 3))
    held = add_recipients(broadcast, people(channel, 2), stage=Stage.HELD)
    add_counts({broadcast.pk: {"held": 2}})
    later = add_recipients(broadcast, people(channel, 1), due_at=now() + timedelta(hours=2))
    message = a_message(a_conversation(channel))
    bring_back_a_dump()
    start_sender()

    said = after_restore()

    assert "1 broadcasts paused, 5 of their recipients unknown" in said
    assert "1 messages failed" in said
    broadcast.refresh_from_db()
    assert (broadcast.status, broadcast.paused_reason) == ("paused", UNDER_WAY)
    stages = dict(Recipient.objects.of(broadcast).values_list("contact_id", "stage"))
    assert {stages[one.contact_id] for one in (*due, *held)} == {Stage.UNKNOWN}
    assert {stages[one.contact_id] for one in later} == {Stage.READY}
    assert counts(broadcast) == rows_as_counts(broadcast)
    message.refresh_from_db()
    assert (message.status, message.error_code) == ("failed", "database_restored")
    assert not QueuedMessage.objects.exists()
    assert Allowance.objects.get().full_until > now() + timedelta(hours=23)  # type: ignore[operator]  # it is set

    assert a.workspace_api.post(f"/broadcasts/{broadcast.uuid}/resume").status_code == 200
    Recipient.objects.filter(stage=Stage.UNKNOWN).update(due_at=now())
    until(lambda: Recipient.objects.filter(status="failed").count() == 5, what="those who are not known to be sent to")
    wait_for_a_round(SenderRun)
    assert meta.ledger()["sent_total"] == 0
    assert set(Recipient.objects.filter(status="failed").values_list("error_code", flat=True)) == {
        "send_outcome_unknown"
    }


def test_nobody_new_is_written_to_until_a_day_has_passed(
    channel: Channel, meta: RunningSandbox, start_sender: StartSender, a: Tenant
) -> None:
    a_channel(a.workspace, meta, external_id=NUMBERS[1])
    ChannelCredential.objects.update(portfolio_id="8001")
    Channel.objects.update(messaging_limit=250)
    channel.refresh_from_db()
    assert remaining_people(channel) == 250
    bring_back_a_dump()
    after_restore()
    broadcast = a_broadcast(channel)
    [new, known] = people(channel, 2)
    add_recipients(broadcast, [new, known])
    open_window(channel, known)
    body = {"type": "body", "parameters": [{"type": "text", "text": "Ann"}]}
    template = {"name": "order_ready", "language": "en_US", "components": [body]}
    answer = a_message(a_conversation(channel), type="template", text="", template=template)

    start_sender()
    until(lambda: Recipient.objects.filter(status="sent").exists(), what="who has a window open to be sent to")
    until(lambda: Recipient.objects.filter(stage=Stage.HELD).exists(), what="who is new to be held")
    wait_for_a_round(SenderRun)

    assert (remaining_people(channel), sends(meta, answer)) == (0, 0)
    assert Recipient.objects.get(stage=Stage.HELD).contact_id == new.pk
    assert Recipient.objects.get(stage=Stage.HELD).due_at > now() + timedelta(hours=23)
    shown = a.workspace_api.get("/channels").json()["data"]
    assert [one["remaining_allowance"] for one in shown if one["id"] == str(channel.uuid)] == [0]
    Allowance.objects.update(full_until=now())
    until(lambda: sends(meta, answer), what="the template to leave")
    until(lambda: not Recipient.objects.filter(stage=Stage.HELD).exists(), what="who waited to be sent to")


def test_a_broadcast_is_prepared_to_its_end_first(channel: Channel, monkeypatch: pytest.MonkeyPatch) -> None:
    """Recipients that a worker adds after the others were marked would be sent to once more."""
    contacts = people(channel, 3)
    broadcast = a_broadcast(channel, last_contact=contacts[-1].pk, is_prepared=False)
    frozen = {**(broadcast.frozen or {}), "filter": {}, "is_refused": False}
    Broadcast.objects.update(frozen=frozen, audience=EVERYBODY)
    bring_back_a_dump()

    with closing(open_connection("test")) as worker, worker.transaction():
        worker.execute("SET LOCAL idle_in_transaction_session_timeout = 0")  # however long the command takes
        chunk = [AdvisoryLock.AUDIENCE_CHUNK.value, f"{broadcast.pk} 0"]
        worker.execute("SELECT pg_advisory_xact_lock(%s, hashtext(%s))", chunk)
        monkeypatch.setattr("broadcasts.services.recovery.PREPARING_SECONDS", 0.2)
        with pytest.raises(CommandError, match="could not be prepared"):
            after_restore()
        monkeypatch.undo()
        assert (Broadcast.objects.get().status, is_known()) == ("sending", False)
    after_restore()

    assert (Broadcast.objects.get().status, is_known()) == ("paused", True)
    assert set(Recipient.objects.values_list("contact_id", "stage")) == {(one.pk, Stage.UNKNOWN) for one in contacts}


def test_owners_are_notified(a: Tenant, channel: Channel) -> None:
    under_way = a_broadcast(channel)
    add_recipients(under_way, people(channel, 1))
    paused = a_broadcast(channel, status="paused")
    a_message(a_conversation(channel))
    bring_back_a_dump()

    after_restore()

    told = NotificationEvent.objects.values_list("kind", "object_id", "data__reason")
    expected = {(kind, str(under_way.uuid), UNDER_WAY) for kind in ("broadcast.paused", "workspace.broadcast_paused")}
    expected |= {(kind, str(paused.uuid), PAUSED_BEFORE) for kind in ("broadcast.paused", "workspace.broadcast_paused")}
    assert set(told) == expected | {("workspace.restored_from_backup", "", None)}


def test_what_was_to_begin_waits_for_an_approval(a: Tenant) -> None:
    a.channel  # noqa: B018  # made by being asked for
    shown = create(a)
    broadcast = bring_to(shown, "Scheduled")
    Broadcast.objects.filter(pk=broadcast.pk).update(due_at=now() - timedelta(minutes=5))
    later = bring_to(create(a), "Scheduled")
    Broadcast.objects.filter(pk=later.pk).update(due_at=now() + timedelta(days=1))
    bring_back_a_dump()

    PreparationLoop().look()
    assert Broadcast.objects.get(pk=broadcast.pk).status == "Scheduled"
    after_restore()
    PreparationLoop().look()

    broadcast.refresh_from_db()
    later.refresh_from_db()
    assert (broadcast.status, broadcast.requires_approval, broadcast.approved_at) == ("Scheduled", True, None)
    assert not later.requires_approval
    assert set(NotificationEvent.objects.values_list("data__reason", flat=True)) == {NOT_BEGUN}
    assert a.workspace_api.post(f"/broadcasts/{broadcast.uuid}/approve").status_code == 200
    PreparationLoop().look()
    broadcast.refresh_from_db()
    assert broadcast.status == "sending"


def test_it_goes_on_where_it_was_killed(channel: Channel, monkeypatch: pytest.MonkeyPatch) -> None:
    broadcast = a_broadcast(channel)
    add_recipients(broadcast, people(channel, 3))
    a_message(a_conversation(channel))
    bring_back_a_dump()

    def killed(**asked: Any) -> int:
        fail_queued_messages(**asked)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("config.operations.management.commands.after_restore.fail_queued_messages", killed)
        with pytest.raises(KeyboardInterrupt):
            after_restore()
    assert not is_known()

    after_restore()

    assert is_known()
    assert Recipient.objects.filter(stage=Stage.UNKNOWN).count() == 3
    kinds = list(NotificationEvent.objects.order_by("kind").values_list("kind", flat=True))
    assert kinds == ["broadcast.paused", "workspace.broadcast_paused", "workspace.restored_from_backup"]


def test_an_operator_hears_of_it(scrape: Scrape) -> None:
    def warnings() -> set[str | None]:
        return {found.id for found in run_checks(tags=[Tags.database], databases=["default"])}

    assert "operations.W003" not in warnings()
    assert scrape()["database_unconfirmed", ()] == 0
    bring_back_a_dump()

    assert "operations.W003" in warnings()
    assert scrape()["database_unconfirmed", ()] == 1


def test_a_database_that_was_at_work_is_left_alone(channel: Channel) -> None:
    broadcast = a_broadcast(channel)
    add_recipients(broadcast, people(channel, 1))

    with pytest.raises(CommandError, match="--unnoticed"):
        after_restore()

    assert Broadcast.objects.get().status == "sending"
    assert "1 broadcasts paused" in after_restore("--unnoticed")


def test_automations_do_nothing_again_after_a_restore(a: Tenant, channel: Channel) -> None:
    """The backup has a message that an automation may have answered since, and runs that may have gone on."""
    wait = a_step("wait", "wait", {"next": "greet"}, amount=2, unit="hours")
    on(a, a_flow(wait, a_step("greet", "send_text", text="Later.")))
    on(a, a_flow(a_step("ask", "wait_for_reply", hours=5), keywords=["price"]), name="Prices")
    receive(received(channel, text="hello"), received(channel, person=person(2), text="price"))
    run_due()
    receive(received(channel, person=person(3), text="hello"))
    bring_back_a_dump()

    assert run_due() == 0
    assert "1 runs of automations stopped, 1 facts start no automation" in after_restore()
    run_due()

    assert dict(AutomationRun.objects.values_list("automation__name", "status")) == {
        "Welcome": "waiting",
        "Prices": "stopped",
    }
    event = TriggerEvent.objects.latest("pk")
    assert (event.outcome, event.reason) == ("nothing", "database_restored")
