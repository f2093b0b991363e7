"""What is broken in the product's modules, by the name of the mutation. Loaded before Django: imports nothing of it."""

import json
import threading
from collections.abc import Callable
from types import ModuleType
from typing import Any


def require(module: ModuleType, name: str) -> None:
    """Raise `LookupError` when what is to be broken is no longer there."""
    if not hasattr(module, name):
        raise LookupError(f"{module.__name__} has no {name}")


def wrong_secret(signing: ModuleType) -> None:
    """Sign with a secret that is nobody's."""
    before = signing.Signer.__init__

    def init(self: Any, secret: str) -> None:
        before(self, "whsec_" + "A" * 43 + "=")

    signing.Signer.__init__ = init


def other_bytes(client: ModuleType) -> None:
    """Write the body anew after it was signed."""
    before = client.HTTPClient.submit

    def submit(self: Any, request: Any) -> None:
        before(self, request._replace(body=json.dumps(json.loads(request.body)).encode()))

    client.HTTPClient.submit = submit


def early_answer(events: ModuleType) -> None:
    """Record the event some seconds after the change was answered."""
    before = events.write_event

    def write_later(**options: Any) -> None:
        from django.db import connection, transaction

        try:
            with transaction.atomic():
                before(**options)
        finally:
            connection.close()

    def write_event(**options: Any) -> None:
        timer = threading.Timer(4.0, write_later, kwargs=options)
        timer.daemon = True
        timer.start()

    require(events, "write_event")
    vars(events)["write_event"] = write_event


def sixteen_at_once(queue: ModuleType) -> None:
    """Send twice as many at once to an endpoint as is promised."""
    require(queue, "PER_ENDPOINT")
    vars(queue)["PER_ENDPOINT"] = 16


def unbounded(fan_out: ModuleType) -> None:
    """Fan out whatever there is in one statement, however often that took too long."""
    require(fan_out, "BatchSize")
    everything = (10**9, 10**9)
    if fan_out.BatchSize.__new__.__defaults__ is None or fan_out.BatchSize._fields != ("events", "rows"):
        raise LookupError("a batch is something else")
    fan_out.BatchSize.__new__.__defaults__ = everything
    fan_out.BatchSize.halved = fan_out.BatchSize.doubled = lambda batch: batch


def shared(shards: ModuleType) -> None:
    """Serve every endpoint, whichever dispatcher has it."""
    balance, all_of_them = shards.OwnedShards.balance, frozenset(range(shards.SHARDS))

    def take_all(self: Any, connection: Any, **options: Any) -> frozenset[int]:
        had: frozenset[int] = self.held
        balance(self, connection, **options)
        self.held = all_of_them
        return all_of_them - had

    shards.OwnedShards.balance = take_all


def requeued(statements: ModuleType) -> None:
    """Have what a dead sender held sent once more."""
    require(statements, "RELEASE_DEAD_CLAIMS")
    waits = "SET stage = 2, due_at = clock_timestamp() + make_interval(secs => %(seconds)s)"
    vars(statements)["RELEASE_DEAD_CLAIMS"] = _replaced(statements.RELEASE_DEAD_CLAIMS, waits, "SET stage = 0")


def passed_over(statements: ModuleType) -> None:
    """Free what a dead sender held where it was, whatever has moved meanwhile, and forget the sender then."""
    by_key = "FROM held WHERE recipient.broadcast_id = held.broadcast_id AND recipient.contact_id = held.contact_id"
    freed = _replaced(
        statements.RELEASE_DEAD_CLAIMS, by_key, "WHERE recipient.ctid = ANY (ARRAY (SELECT place FROM held))"
    )
    vars(statements)["RELEASE_DEAD_CLAIMS"] = _replaced(
        freed, "SELECT broadcast_id, contact_id FROM", "SELECT ctid AS place FROM"
    )
    vars(statements)["HELD_BY_RUNS"] = _replaced(statements.HELD_BY_RUNS, "stage = 1", "stage = 1 AND false")


def uncounted(allowance: ModuleType) -> None:
    """Count nobody as long as no limit is known."""
    require(allowance, "take")
    before = allowance.take

    def take(cursor: Any, asked: Any, **options: Any) -> Any:
        free = {key.name: set(people) for key, people in asked.items() if key.limit is None}
        counted = {key: people for key, people in asked.items() if key.limit is not None}
        return free | before(cursor, counted, **options)

    vars(allowance)["take"] = take


def marked_late(statements: ModuleType) -> None:
    """Write down that somebody was sent to when they were, and not before."""
    vars(statements)["CLAIM"] = _replaced(statements.CLAIM, "SET stage = 1, run", "SET run")
    vars(statements)["SENT"] = _replaced(statements.SENT, "stage IN (1, 2)", "stage IN (0, 1, 2)")


def forgotten_claims(claimer: ModuleType) -> None:
    """Send what was claimed before the claim is on the disk."""
    before = claimer.MessageClaimer.on_connect

    def on_connect(self: Any, connection: Any) -> None:
        before(self, connection)
        connection.execute("SET synchronous_commit = off")

    claimer.MessageClaimer.on_connect = on_connect


def forgotten_results(recorder: ModuleType) -> None:
    """Let no record of results bring claims to the disk meanwhile."""
    before = recorder.MessageRecorder.record

    def record(self: Any, connection: Any, results: Any) -> int:
        from django.db import connection as project

        with project.cursor() as cursor:
            cursor.execute("SET synchronous_commit = off")
        connection.execute("SET synchronous_commit = off")
        found: int = before(self, connection, results)
        return found

    recorder.MessageRecorder.record = record


def any_word_counts(opt_outs: ModuleType) -> None:
    """Follow whatever word is read last."""
    vars(opt_outs)["UPDATE_CONSENT"] = _replaced(
        opt_outs.UPDATE_CONSENT, "WHERE statement.by_staff OR", "WHERE true OR"
    )


def always_confirmed(identity: ModuleType) -> None:
    """Take any database for the one that was at work last."""
    require(identity, "is_confirmed")
    vars(identity)["is_confirmed"] = lambda executor: True


def waiting_on(statuses: ModuleType) -> None:
    """Let statuses end no message that waits for another try."""
    require(statuses, "END_WAITING")
    vars(statuses)["END_WAITING"] = "SELECT %s::bigint[]"


def called_again(source: ModuleType) -> None:
    """Call whatever is due, whether the network has reported it or not."""
    require(source, "_still_pending")
    vars(source)["_still_pending"] = lambda cursor, run, rows: rows


def _replaced(statement: str, old: str, new: str) -> str:
    if old not in statement:
        raise LookupError(f"there is no {old}")
    return statement.replace(old, new)


PATCHES: dict[str, dict[str, Callable[[ModuleType], None]]] = {
    "secret": {"webhooks.signing": wrong_secret},
    "bytes": {"config.http.client": other_bytes},
    "early": {"agency.services.events": early_answer},
    "sixteen": {"webhooks.dispatcher.queues": sixteen_at_once},
    "unbounded": {"webhooks.dispatcher.fan_out": unbounded},
    "exclusive": {"config.leases.runs": shared},
    "requeued": {"broadcasts.sending.statements": requeued},
    "passed-over": {"broadcasts.sending.statements": passed_over},
    "uncounted": {"channelconnect.sending.allowance": uncounted},
    "marked-late": {"broadcasts.sending.statements": marked_late},
    "overtaken": {"workspaces.contacts.services.opt_outs": any_word_counts},
    "restored": {"config.recovery.identity": always_confirmed},
    "claims": {
        "channelconnect.sending.claimer": forgotten_claims,
        "channelconnect.sending.recorder": forgotten_results,
    },
    "reported": {
        "workspaces.conversations.services.inbound.statuses": waiting_on,
        "channelconnect.sending.conversations": called_again,
    },
}
