"""Claims due calls in fair shares: no workspace, agency, host or account takes the places of the others."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Q
from django.db.models.functions import Now

from config.db import database_now
from config.postgresql.concurrency import AdvisoryLock
from workspaces.automations.dispatcher.preparing import AI_MS, HTTP_MS, CallRefused, PreparedCall, prepare
from workspaces.automations.models import AiAccount, OutsideCall
from workspaces.automations.services.ai_budgets import Settlement, month_of, reserve, settle
from workspaces.automations.services.outside_calls import CallResult

# At most so many calls are in flight at a time, in all processes together.
MOST_OF_PEER_IN_WORKSPACE: Final = 4
MOST_OF_WORKSPACE: Final = 8
MOST_OF_AGENCY: Final = 32
MOST_OF_PEER: Final = 32
# A claim looks at so many pairs of a workspace and a peer. The next claim goes on behind them.
MOST_PAIRS: Final = 500
# What ended so often without an answer is not begun again.
MOST_TRIES: Final = 3
# A claim outlives the longest call, so that no call is repeated while it may still be answered.
GRACE: Final = timedelta(seconds=5)
# A claim ends at most so many calls whose time is over.
MOST_OVERDUE: Final = 200

# Both statements read one index: (workspace, peer, due_at) of calls that have not ended.
CANDIDATES: Final = """
WITH RECURSIVE pair AS (
    (SELECT workspace_id, peer FROM automations_outsidecall
        WHERE status IN ('planned', 'claimed') AND (workspace_id, peer) > (%(workspace)s, %(peer)s)
        ORDER BY workspace_id, peer LIMIT 1)
    UNION ALL
    SELECT following.workspace_id, following.peer FROM pair CROSS JOIN LATERAL (
        SELECT workspace_id, peer FROM automations_outsidecall
        WHERE status IN ('planned', 'claimed') AND (workspace_id, peer) > (pair.workspace_id, pair.peer)
        ORDER BY workspace_id, peer LIMIT 1) AS following
)
SELECT pair.workspace_id, pair.peer, due.id, due.agency_id, due.due_at
FROM (SELECT workspace_id, peer FROM pair LIMIT %(pairs)s) AS pair LEFT JOIN LATERAL (
    SELECT id, agency_id, due_at FROM automations_outsidecall
    WHERE status IN ('planned', 'claimed') AND workspace_id = pair.workspace_id AND peer = pair.peer
        AND due_at <= now()
    ORDER BY due_at LIMIT %(each)s) AS due ON true
"""
IN_FLIGHT: Final = """
SELECT workspace_id, agency_id, peer, count(*) FROM automations_outsidecall
WHERE status = 'claimed' AND due_at > now() GROUP BY workspace_id, agency_id, peer
"""


class Candidate(NamedTuple):
    """A due call."""

    workspace_id: int
    peer: str
    call_id: int
    agency_id: int
    due_at: datetime


class Claim(NamedTuple):
    """What a claim took: calls to make, and calls that ended at once. `after` is where the next claim goes on."""

    prepared: Sequence[PreparedCall] = ()
    ended: Sequence[CallResult] = ()
    after: tuple[int, str] = (0, "")
    has_more: bool = False


class Room:
    """The places that are left under each limit."""

    def __init__(self, in_flight: Iterable[tuple[int, int, str, int]], *, places: int) -> None:
        self.places = places
        self._used: Counter[tuple[object, ...]] = Counter()
        for workspace_id, agency_id, peer, number in in_flight:
            for key, _ in self._limits(workspace_id, agency_id, peer):
                self._used[key] += number

    def take(self, one: Candidate) -> bool:
        """Take a place for a call if every limit has one left."""
        limits = self._limits(one.workspace_id, one.agency_id, one.peer)
        if self.places <= 0 or any(self._used[key] >= most for key, most in limits):
            return False
        self.places -= 1
        for key, _ in limits:
            self._used[key] += 1
        return True

    @staticmethod
    def _limits(workspace_id: int, agency_id: int, peer: str) -> tuple[tuple[tuple[object, ...], int], ...]:
        return (
            (("workspace and peer", workspace_id, peer), MOST_OF_PEER_IN_WORKSPACE),
            (("workspace", workspace_id), MOST_OF_WORKSPACE),
            (("agency", agency_id), MOST_OF_AGENCY),
            (("peer", peer), MOST_OF_PEER),
        )


def choose(candidates: Iterable[Candidate], room: Room) -> list[int]:
    """Choose calls: the first of each workspace, then the second of each, and so on, within all limits."""
    by_workspace: defaultdict[int, list[Candidate]] = defaultdict(list)
    for one in sorted(candidates, key=lambda candidate: (candidate.due_at, candidate.call_id)):
        by_workspace[one.workspace_id].append(one)
    turns = [(turn, one) for found in by_workspace.values() for turn, one in enumerate(found)]
    turns.sort(key=lambda pair: (pair[0], pair[1].due_at, pair[1].call_id))
    return [one.call_id for _, one in turns if room.take(one)]


@transaction.atomic
def claim_calls(*, worker: int, places: int, after: tuple[int, str]) -> Claim | None:
    """Claim due calls for a worker run, and count the try of each. None if another process is claiming.

    The transaction reserves the worst cost of each A.I. call. What a dead worker had reserved counts as spent.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [AdvisoryLock.OUTSIDE_CALLS.value])
        if not cursor.fetchone()[0]:
            return None
        cursor.execute(IN_FLIGHT)
        room = Room(cursor.fetchall(), places=places)
        wanted: dict[str, int | str] = {
            "workspace": after[0],
            "peer": after[1],
            "pairs": MOST_PAIRS,
            "each": MOST_OF_PEER_IN_WORKSPACE,
        }
        cursor.execute(CANDIDATES, wanted)
        found = cursor.fetchall()
    is_last = len({row[:2] for row in found}) < MOST_PAIRS
    chosen = [*_overdue(), *choose([Candidate(*row) for row in found if row[2] is not None], room)]
    prepared, ended = _claim_rows(chosen, worker) if chosen else ([], [])
    return Claim(prepared, ended, after=(0, "") if is_last else found[-1][:2], has_more=bool(chosen) or not is_last)


def _overdue() -> list[int]:
    """Return calls whose time is over, and which end without a place of their own."""
    rows = OutsideCall.objects.filter(status__in=OutsideCall.ACTIVE, deadline__lte=Now(), due_at__lte=Now())
    return list(rows.order_by("deadline").values_list("pk", flat=True)[:MOST_OVERDUE])


def _claim_rows(chosen: Sequence[int], worker: int) -> tuple[list[PreparedCall], list[CallResult]]:
    now = database_now()
    rows = list(OutsideCall.objects.filter(pk__in=chosen, status__in=OutsideCall.ACTIVE).select_for_update())
    accounts = _accounts_of(rows)
    prepared: list[PreparedCall] = []
    ended: list[CallResult] = []
    # In the order in which budgets are locked.
    for row in sorted(rows, key=lambda one: (one.agency_id, _account_key(accounts.get(one.pk)), one.pk)):
        _spend_of_dead_worker(row)
        try:
            prepared.append(_begin(row, accounts.get(row.pk), now))
        except CallRefused as refusal:
            is_unknown = refusal.code == NO_ANSWER
            ended.append(CallResult(row.pk, row.tries, code=refusal.code, is_unknown=is_unknown))
        row.status, row.claimed_by = OutsideCall.Status.CLAIMED, worker
        row.due_at = now + timedelta(milliseconds=HTTP_MS if row.kind == OutsideCall.Kind.HTTP else AI_MS) + GRACE
    changed = ("status", "claimed_by", "due_at", "tries", "account", "reserved", "month")
    OutsideCall.objects.bulk_update(rows, changed)
    return prepared, ended


def _account_key(account: AiAccount | None) -> int:
    return account.pk if account else 0


NO_ANSWER: Final = "no_answer"
TOO_LATE: Final = "too_late"


def _begin(row: OutsideCall, account: AiAccount | None, now: datetime) -> PreparedCall:
    """Prepare a try, reserve its cost and count it. Raises `CallRefused`."""
    if row.tries >= MOST_TRIES or row.deadline <= now:
        raise CallRefused(NO_ANSWER if row.status == OutsideCall.Status.CLAIMED else TOO_LATE)
    prepared = prepare(row, account)
    row.account = account
    if account is not None:
        if account.stopped_until is not None and account.stopped_until > now:
            raise CallRefused("key_refused" if account.refused_at else "unavailable")
        row.month = month_of(now)
        if not reserve(account, workspace_id=row.workspace_id, amount=prepared.worst_cost, month=row.month):
            raise CallRefused("budget")
        row.reserved = prepared.worst_cost
    row.tries = prepared.tries
    return prepared


def _spend_of_dead_worker(row: OutsideCall) -> None:
    """Count what a try without a result may have cost as spent."""
    if row.reserved and row.account_id is not None and row.month is not None:
        spent = Settlement(row.agency_id, row.month, row.account_id, row.workspace_id, row.reserved, cost=row.reserved)
        settle([spent])
    row.reserved = 0


def _accounts_of(rows: Iterable[OutsideCall]) -> dict[int, AiAccount]:
    """Return the account of each A.I. call: the one that its step names, or the agency's default."""
    asking = {row.pk: (row.agency_id, row.peer.rpartition(":")[2]) for row in rows if row.kind != OutsideCall.Kind.HTTP}
    if not asking:
        return {}
    named = {uuid for _, name in asking.values() if (uuid := _uuid_of(name))}
    agencies = {agency for agency, _ in asking.values()}
    found = AiAccount.objects.filter(Q(uuid__in=named) | Q(is_default=True), agency__in=agencies)
    by_name: Mapping[tuple[int, UUID | None], AiAccount] = {
        key: one for one in found for key in ((one.agency_id, one.uuid), *_as_default(one))
    }
    return {
        pk: account
        for pk, (agency, name) in asking.items()
        if (account := by_name.get((agency, _uuid_of(name)))) and (not name or _uuid_of(name))
    }


def _as_default(account: AiAccount) -> tuple[tuple[int, None], ...]:
    return ((account.agency_id, None),) if account.is_default else ()


def _uuid_of(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
