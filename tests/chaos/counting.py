"""Holds what arrived, and what the product says of it, against what the clients were told."""

from collections import Counter, defaultdict

from django.db.models import Count

from tests.chaos.clients.calls import NO_ANSWER
from tests.chaos.expectations import Expectation, Key, Subscriber
from tests.chaos.outcome import Limits, Outcome
from tests.chaos.receiver.arrivals import Arrival
from tests.chaos.receiver.behaviour import Answer, expected_attempts, is_delivered
from tests.chaos.receiver.checks import BULK
from tests.chaos.workload import Workload
from webhooks.models import Attempt, Delivery, QueuedDelivery

Came = dict[tuple[Key, int], list[tuple[str, Arrival]]]


def count(workload: Workload, limits: Limits) -> Outcome:
    """Count a scenario that is over."""
    outcome = Outcome(
        planned=workload.injections.planned.total(),
        injected=workload.injections.done,
        excused=sum(workload.excuses.found.values()),
        pause=workload.arrivals.longest_pause(workload.ended_at),
        longest_pause=limits.pause,
        notes=workload.notes,
        wrong=[*workload.wrong, *workload.injections.missing],
    )
    came = _came(workload)
    for expectation in workload.expectations.all():
        _count_expectation(outcome, expectation, came)
    _count_foreign(outcome, workload, came)
    _count_duplicates(outcome, workload)
    wrong: Counter[str] = Counter(workload.arrivals.wrong)
    wrong.update(workload.load.wrong)
    wrong.update(_log_differences(workload))
    wrong.update(_contradictions(workload))
    outcome.wrong += [f"{times} times: {sentence}" for sentence, times in wrong.items()]
    _count_calls(outcome, workload, limits.call)
    _count_waits(outcome, workload, came, limits.wait)
    return outcome


def _came(workload: Workload) -> Came:
    found: Came = defaultdict(list)
    for (endpoint, envelope), arrival in workload.arrivals.found.items():
        found[arrival.key, endpoint].append((envelope, arrival))
    return found


def _count_expectation(outcome: Outcome, one: Expectation, came: Came) -> None:
    """An event that reached one endpoint happened: then it has to reach the others as well."""
    at = {endpoint: came.get((one.key, endpoint), []) for endpoint in one.endpoints}
    happened = one.is_certain or any(at.values())
    outcome.told += one.is_certain
    outcome.unknown += not one.is_certain
    if not happened:
        return
    outcome.deliveries += len(at)
    outcome.lost += sum(not _is_complete(arrivals) for arrivals in at.values())
    outcome.foreign += sum(max(0, len(arrivals) - 1) for arrivals in at.values())
    outcome.foreign += max(0, len({envelope for arrivals in at.values() for envelope, _ in arrivals}) - 1)
    outcome.wrong += {
        f"{one.key.event} says something else than was asked for"
        for arrivals in at.values()
        for _, arrival in arrivals
        if not _says(arrival, one)
    }


def _is_complete(arrivals: list[tuple[str, Arrival]]) -> bool:
    return any(arrival.successes or not is_delivered(arrival.script) for _, arrival in arrivals)


def _says(arrival: Arrival, expected: Expectation) -> bool:
    account = arrival.data.get("workspace")
    if not expected.data or not isinstance(account, dict):
        return not expected.data
    wanted = dict(expected.data)
    plan = wanted.pop("plan", None)
    named = (account.get("plan") or {}).get("uuid")
    return all(account.get(name) == value for name, value in wanted.items()) and plan in (None, named)


def _count_foreign(outcome: Outcome, workload: Workload, came: Came) -> None:
    for key, endpoint in came:
        expected = workload.expectations.get(key)
        if expected is None or endpoint not in expected.endpoints:
            outcome.foreign += 1


def _count_duplicates(outcome: Outcome, workload: Workload) -> None:
    for pair, arrival in workload.arrivals.found.items():
        more = len(arrival.came_at) - expected_attempts(arrival.script)
        if more > 0:
            outcome.duplicates += more
            outcome.inexcusable += max(0, more - workload.excuses.found.get(pair, 0))


def _count_calls(outcome: Outcome, workload: Workload, longest: float) -> None:
    counts, log = workload.log.counts, workload.log
    good = sum(times for status, times in counts.items() if status in range(200, 300))
    outcome.calls = (
        f"{good:,} calls answered, {counts[503]} refused, {counts[NO_ANSWER]} without an answer, "
        f"slowest {log.slowest:.1f} s"
    )
    faults = {status: times for status, times in counts.items() if status >= 500 and status != 503}
    outcome.wrong += [f"{times} calls answered with {status}" for status, times in faults.items()]
    if log.slowest > longest:
        outcome.wrong.append(f"a call took {log.slowest:.1f} s")


def _count_waits(outcome: Outcome, workload: Workload, came: Came, longest: float) -> None:
    """How long the event of a change that was told took to arrive, where its receiver answers well."""
    waits = [
        (arrival.came_at[0] - one.told_at, one.told_at, envelope)
        for one in workload.expectations.all()
        if one.told_at is not None and one.told_at <= workload.ended_at and not one.key.event.startswith(BULK)
        for endpoint in one.endpoints
        for envelope, arrival in came.get((one.key, endpoint), [])
        if arrival.script[0] is Answer.OK
    ]
    worst, told_at, envelope = max(waits, default=(0.0, 0.0, ""))
    outcome.notes.append(f"longest wait {worst:.1f} s")
    if worst > longest:
        late = sum(wait > longest for wait, _, _ in waits)
        began = workload.arrivals.moments[0]
        outcome.wrong.append(
            f"{late} events waited for more than {longest:.0f} s, the one that was told {told_at - began:.1f} s after "
            f"the first arrival {worst:.1f} s: {_attempts(envelope)}"
        )


def _attempts(envelope: str) -> str:
    """What the log has of an envelope's deliveries."""
    rows = Attempt.objects.filter(delivery_id__in=Delivery.objects.filter(envelope_id=envelope).values("id"))
    return "; ".join(
        f"attempt {row.number} at {row.started_at:%H:%M:%S}, {row.duration_ms} ms, {row.error or 'success'}"
        for row in rows.order_by("started_at")
    )


def _log_differences(workload: Workload) -> Counter[str]:
    """What the newest deliveries of each endpoint are according to the API, against what its receiver saw."""
    found: Counter[str] = Counter()
    for tenant in workload.tenants.agencies:
        tenant.api.close()  # it was idle for long
        for subscriber in workload.expectations.subscribers.values():
            if subscriber.uuid and subscriber.owner == ("agency_id", tenant.agency.pk):
                status, rows, _ = tenant.api.read(f"/webhooks/{subscriber.uuid}/deliveries")
                if status != 200:
                    found[f"the log was answered with {status}"] += 1
                for row in rows or []:
                    found.update(_row_differences(workload, subscriber, row))
                if rows:
                    _, _, content = tenant.api.read(f"/webhooks/deliveries/{rows[0]['id']}")
                    sent = workload.arrivals.bodies.get(rows[0]["envelope_id"], b"nothing")
                    found["the log shows other bytes than were sent"] += sent not in content
    return +found


def _row_differences(workload: Workload, subscriber: Subscriber, row: dict[str, object]) -> list[str]:
    arrival = workload.arrivals.found.get((subscriber.number, str(row["envelope_id"])))
    if arrival is None:
        return ["the log has a delivery that never came"]
    delivered, attempts = is_delivered(arrival.script), expected_attempts(arrival.script)
    last = arrival.script[min(attempts, len(arrival.script)) - 1]
    differences = []
    if row["status"] != ("success" if delivered else "error"):
        differences.append(f"the log says {row['status']} of a delivery whose attempts were {_names(arrival)}")
    elif row["error"] != last.error:
        differences.append(f"the log says {row['error']} of a delivery whose attempts were {_names(arrival)}")
    is_excused = (subscriber.number, str(row["envelope_id"])) in workload.excuses.found
    if row["attempts"] != attempts and not (is_excused and row["attempts"] in range(1, attempts)):
        differences.append(f"the log counts {row['attempts']} attempts of {attempts}")
    return differences


def _names(arrival: Arrival) -> str:
    return " and ".join(answer.name for answer in arrival.script)


def _contradictions(workload: Workload) -> Counter[str]:
    """Deliveries that count other attempts than are logged, and what is left in the queue."""
    ours = Delivery.objects.filter(agency_id__in=[tenant.agency.pk for tenant in workload.tenants.agencies])
    logged = dict(
        Attempt.objects.filter(delivery_id__in=ours.values("id"))
        .order_by()
        .values_list("delivery_id")
        .annotate(Count("number"))
    )
    counted = ours.filter(attempts__gt=0).values_list("id", "attempts")
    left = QueuedDelivery.objects.filter(delivery_id__in=ours.exclude(status="pending").values("id"))
    return +Counter(
        {
            "a delivery counts other attempts than are logged": sum(logged.get(pk) != made for pk, made in counted),
            "an ended delivery is still queued": left.count(),
            "a delivery is still pending": ours.filter(status="pending").count(),
        }
    )
