"""What becomes of messages that went out: forward only, whatever order it is told in."""

from datetime import datetime, timedelta
from itertools import permutations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from config import metrics
from tests import furnished
from tests.tenants import Tenant
from tests.workspaces.conversations.facts import apply, echo, mark, moment, person, status, the_conversation
from tests.workspaces.conversations.sending import record, send, sent
from workspaces.conversations.models import Message, QueuedMessage
from workspaces.conversations.services import inbound

a, b = furnished.a_with_customer, furnished.b_with_customer

pytestmark = [pytest.mark.slow, pytest.mark.django_db]
FORWARD = ("sent", "delivered", "read")


def advance(a: Tenant, message: Message, *statuses: str, **changes: object) -> Message:
    """Tell these statuses of a message, each in a batch of its own."""
    for number, one in enumerate(statuses):
        told = status(a.channel, message.provider_message_id or "", one, at=moment(number), **changes)
        apply(inbound.apply_statuses, told)
    message.refresh_from_db()
    return message


def test_the_senders_result_moves_a_message_on(a: Tenant) -> None:
    message = send(a)
    assert QueuedMessage.objects.get().message_id == message.pk
    record(message, provider_message_id="wamid.out", at=moment())
    message.refresh_from_db()
    assert (message.status, message.provider_message_id, message.sent_at) == ("sent", "wamid.out", moment())
    assert not QueuedMessage.objects.exists()


def test_a_refusal_says_why(a: Tenant) -> None:
    message = send(a)
    record(message, "failed", error_code="131026", error_message="Cannot be reached.")
    message.refresh_from_db()
    assert (message.status, message.error_code, message.error_message) == ("failed", "131026", "Cannot be reached.")


@pytest.mark.parametrize("order", list(permutations(FORWARD)))
def test_statuses_move_forward_only(a: Tenant, order: tuple[str, ...]) -> None:
    message = advance(a, sent(a), *order)
    assert message.status == "read"
    assert None not in (message.sent_at, message.delivered_at, message.read_at)


def test_many_statuses_of_one_message_come_in_one_batch(a: Tenant) -> None:
    message = sent(a)
    told = [status(a.channel, message.provider_message_id or "", one) for one in ("read", "sent", "delivered", "read")]
    assert apply(inbound.apply_statuses, *told) == []
    message.refresh_from_db()
    assert message.status == "read"


def test_a_read_message_was_delivered(a: Tenant) -> None:
    message = advance(a, sent(a), "read")
    assert message.delivered_at == message.read_at is not None


@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize("proof", ["delivered", "read"])
@pytest.mark.parametrize("is_failed_first", [True, False])
def test_proof_of_delivery_goes_before_a_failure_in_whatever_order_they_come(
    a: Tenant, proof: str, is_failed_first: bool, together: bool
) -> None:
    key = ("message_status_conflicts_total", "")
    before = metrics._counts.get(key, 0)
    message, order = sent(a), ("failed", "sent", proof) if is_failed_first else (proof, "sent", "failed")
    told = [
        status(a.channel, message.provider_message_id or "", one, at=moment(number), error_code="131026")
        for number, one in enumerate(order)
    ]
    for facts in [told] if together else [[fact] for fact in told]:
        apply(inbound.apply_statuses, *facts)
    message.refresh_from_db()
    assert (message.status, message.error_code, message.error_message) == (proof, None, None)
    assert message.delivered_at is not None
    assert metrics._counts[key] == before + 1


def test_a_failed_message_that_is_only_said_to_be_sent_stays_failed(a: Tenant) -> None:
    message = advance(a, sent(a), "failed", "sent", error_code="131026")
    assert (message.status, message.error_code) == ("failed", "131026")


def unknown(a: Tenant) -> Message:
    """A message that ended as failed as nobody knew what became of it."""
    message = send(a)
    record(message, "failed", error_code="send_outcome_unknown", error_message="Nobody knows.")
    return message


@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize("order", [*permutations(("sent", "failed", "delivered")), *permutations(("sent", "read"))])
def test_a_late_proof_of_delivery_ends_an_unknown_outcome(a: Tenant, order: tuple[str, ...], together: bool) -> None:
    message = unknown(a)
    told = [
        status(a.channel, "wamid.late", one, at=moment(number), opaque=str(message.uuid))
        for number, one in enumerate(order)
    ]
    for facts in [told] if together else [[fact] for fact in told]:
        assert apply(inbound.apply_statuses, *facts) == []
    message.refresh_from_db()
    proof = "read" if "read" in order else "delivered"
    assert (message.status, message.error_code, message.error_message) == (proof, None, None)
    assert (message.provider_message_id, message.sent_at) == ("wamid.late", moment(order.index("sent")))
    assert message.delivered_at == moment(order.index(proof))
    assert not QueuedMessage.objects.exists()


def test_an_unknown_outcome_contradicts_no_proof(a: Tenant) -> None:
    key = ("message_status_conflicts_total", "")
    before = metrics._counts.get(key, 0)
    message = unknown(a)
    apply(inbound.apply_statuses, status(a.channel, "wamid.late", "delivered", opaque=str(message.uuid)))
    assert metrics._counts.get(key, 0) == before


def test_one_whose_outcome_was_unknown_and_that_is_only_said_to_be_sent_stays_failed_with_its_time(a: Tenant) -> None:
    message = unknown(a)
    apply(inbound.apply_statuses, status(a.channel, "wamid.late", "sent", at=moment(), opaque=str(message.uuid)))
    message.refresh_from_db()
    assert (message.status, message.error_code, message.sent_at) == ("failed", "send_outcome_unknown", moment())


@pytest.mark.parametrize("proof", ["delivered", "read"])
def test_a_read_mark_is_proof_for_a_message_whose_echo_came_late(a: Tenant, proof: str) -> None:
    message = unknown(a)
    apply(inbound.apply_read_watermarks, mark(a.channel, proof, moment(1000)))
    message.refresh_from_db()
    assert message.status == "failed"  # nothing says that it left
    apply(inbound.record_echoes, echo(a.channel, message_id="mid.late", opaque=str(message.uuid), at=moment(1001)))
    message.refresh_from_db()
    assert (message.status, message.sent_at) == ("failed", moment(1001))
    assert apply(inbound.apply_read_watermarks, mark(a.channel, proof, moment(1002))) == 1
    message.refresh_from_db()
    assert (message.status, message.error_code, message.delivered_at) == (proof, None, moment(1002))


def test_a_status_may_come_before_the_answer_to_the_call(a: Tenant) -> None:
    message = send(a)
    told = status(a.channel, "wamid.early", "delivered", opaque=str(message.uuid))
    assert apply(inbound.apply_statuses, told) == []
    message.refresh_from_db()
    assert (message.status, message.provider_message_id) == ("delivered", "wamid.early")
    record(message, provider_message_id="wamid.early")
    message.refresh_from_db()
    assert message.status == "delivered"
    assert message.sent_at is not None


def test_what_is_no_conversations_message_is_given_back(a: Tenant, b: Tenant) -> None:
    message = sent(a)
    foreign = status(b.channel, message.provider_message_id or "", "read", opaque=str(message.uuid))
    unknown = status(a.channel, "wamid.unknown", "read", opaque="broadcast")
    assert apply(inbound.apply_statuses, foreign, unknown) == [foreign, unknown]
    message.refresh_from_db()
    assert message.status == "sent"


def test_a_mark_passes_all_that_was_sent_before_it(a: Tenant) -> None:
    """All of it later than now: `moment` counts from when the run began, however long ago that is."""
    begun = now()

    def later(seconds: int) -> datetime:
        return begun + timedelta(hours=1, seconds=seconds)

    early = [sent(a, "1", at=later(10)), sent(a, "2", at=later(20))]
    late, waiting = sent(a, "3", at=later(40)), send(a, "4")
    assert apply(inbound.apply_read_watermarks, mark(a.channel, "delivered", later(30))) == 2
    assert apply(inbound.apply_read_watermarks, mark(a.channel, "read", later(20))) == 2
    for message in (*early, late, waiting):
        message.refresh_from_db()
    assert [one.status for one in early] == ["read", "read"]
    assert early[0].delivered_at is not None
    assert (late.status, waiting.status) == ("sent", "pending")
    assert apply(inbound.apply_read_watermarks, mark(a.channel, "read", later(50))) == 1
    assert (
        apply(inbound.apply_read_watermarks, mark(a.channel, "read", later(50)), mark(a.channel, "read", later(5))) == 0
    )


def test_a_mark_at_a_message_passes_it_and_those_before(a: Tenant) -> None:
    first, second = sent(a, "1", at=moment(1010)), sent(a, "2", at=moment(1020))
    third = sent(a, "3", at=moment(1030))
    told = mark(a.channel, "read", moment(1060), message_id=second.provider_message_id)
    assert apply(inbound.apply_read_watermarks, told) == 2
    for message in (first, second, third):
        message.refresh_from_db()
    assert [one.status for one in (first, second, third)] == ["read", "read", "sent"]


def test_a_mark_of_somebody_else_or_of_nothing_known_passes_nothing(a: Tenant) -> None:
    sent(a, at=moment(-10))
    assert apply(inbound.apply_read_watermarks, mark(a.channel, "read", moment(), person=person(2))) == 0
    assert apply(inbound.apply_read_watermarks, mark(a.channel, "read", moment(), message_id="wamid.unknown")) == 0


def test_an_echo_of_ours_gives_it_the_networks_time_and_id(a: Tenant) -> None:
    message = send(a)
    told = echo(a.channel, message_id="mid.1", opaque=str(message.uuid), at=moment(-3))
    assert apply(inbound.record_echoes, told) == 0
    message.refresh_from_db()
    assert (message.provider_message_id, message.provider_time) == ("mid.1", told.at)
    assert Message.objects.count() == 2


def test_an_echo_that_came_before_the_answer_becomes_ours(a: Tenant) -> None:
    message = send(a)
    apply(inbound.record_echoes, echo(a.channel, message_id="mid.1", at=moment(1000)))
    assert Message.objects.count() == 3
    record(message, provider_message_id="mid.1")
    message.refresh_from_db()
    assert (message.provider_message_id, Message.objects.count()) == ("mid.1", 2)
    assert the_conversation().last_message == message.pk


def test_statuses_take_the_same_statements_however_many_they_are(a: Tenant) -> None:
    one, many = sent(a), [sent(a, str(number)) for number in range(20)]
    with CaptureQueriesContext(connection) as for_one:
        advance(a, one, "delivered")
    with CaptureQueriesContext(connection) as for_many:
        told = [status(a.channel, message.provider_message_id or "", "delivered") for message in many]
        apply(inbound.apply_statuses, *told)
    assert len(for_many) == len(for_one) - 1 <= 8, [query["sql"] for query in for_many.captured_queries]
