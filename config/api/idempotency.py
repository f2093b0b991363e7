"""Idempotency keys: a repeated request is done once.

The key's row is inserted first, in the transaction of the work itself.
"""

import hashlib
import re
from collections.abc import Callable
from datetime import timedelta
from typing import Generic, NamedTuple, Protocol, TypeVar

import orjson
from django.conf import settings
from django.db import OperationalError, connection, transaction
from django.http import HttpResponse
from rest_framework.request import Request
from rest_framework.response import Response

from config.api.errors import BadRequest
from config.api.parsers import canonical_bytes
from config.api.responses import CONTENT_TYPE, json_response
from config.encryption import Outcome, RotationResult, UnreadableSecret, reencrypt_text
from config.errors import Conflict
from config.postgresql.concurrency import sqlstate
from config.retention import ExpiredRows

Work = Callable[[], HttpResponse | Response]

KEY_FORMAT = re.compile(r"[ -~]{1,255}")
HEADER = "HTTP_IDEMPOTENCY_KEY"
LOCK_NOT_AVAILABLE = "55P03"
# Each wait for another request ends after the connection's lock timeout of 2 s.
WAITS = 4
CLAIM = """
INSERT INTO api_idempotencyrecord (principal, key, fingerprint, is_permanent, created_at)
VALUES (%s, %s, %s, %s, now())
ON CONFLICT (principal, key) DO UPDATE
   SET fingerprint = EXCLUDED.fingerprint, status = NULL, body = NULL, is_permanent = EXCLUDED.is_permanent,
       created_at = EXCLUDED.created_at
 WHERE api_idempotencyrecord.created_at <= now() - interval '24 hours' AND NOT api_idempotencyrecord.is_permanent
RETURNING id
"""
RECALL_LIVE = """
SELECT fingerprint, status, body FROM api_idempotencyrecord
WHERE principal = %s AND key = %s AND (created_at > now() - interval '24 hours' OR is_permanent)
"""
RECALL = "SELECT fingerprint, status, body FROM api_idempotencyrecord WHERE principal = %s AND key = %s"
KEEP = "UPDATE api_idempotencyrecord SET status = %s, body = %s WHERE id = %s"
KEPT = timedelta(hours=24)
# The member of a stored answer that is encrypted (`config.encryption.encrypt_text`).
SEALED = "sealed"
# Every statement looks at so many rows, and returns only those with such a member.
NEXT_SEALED = """
SELECT id, CASE WHEN position(%s::bytea IN body) > 0 THEN body END FROM api_idempotencyrecord
WHERE id > %s ORDER BY id LIMIT 2000
"""
REPLACE = "UPDATE api_idempotencyrecord SET body = %s WHERE id = %s AND body = %s"


class KeyReused(Conflict):
    message = "This Idempotency-Key was already used with another request."


class RequestInProgress(Conflict):
    message = "The first request with this Idempotency-Key is still being worked on. Send it again in a moment."


class Principal(Protocol):
    """A view that knows who calls it."""

    @property
    def principal(self) -> str: ...


Handled = TypeVar("Handled", bound=Principal)


class Claim(NamedTuple):
    """A caller's claim on a key: who asks, under which key, for which request, and whether it is permanent."""

    principal: str
    key: str
    fingerprint: bytes
    is_permanent: bool


def presented_idempotency_key(request: Request) -> str | None:
    key: str | None = request.META.get(HEADER)
    if key is not None and not KEY_FORMAT.fullmatch(key):
        raise BadRequest("The Idempotency-Key header must be 1 to 255 printable ASCII characters.")
    return key


def fingerprint_of(request: Request) -> bytes:
    """Return the SHA-256 of method, path and body. The order of the body's keys does not matter."""
    head = f"{request.method} {request.path}\n".encode()
    return hashlib.sha256(head + canonical_bytes(request.data)).digest()


def _claim(claim: Claim) -> int | None:
    """Insert the row and return its id, or None if a live row exists. Waits for a request under way to end."""
    with connection.cursor() as cursor:
        try:
            cursor.execute(CLAIM, claim)
        except OperationalError as error:
            if sqlstate(error) == LOCK_NOT_AVAILABLE:
                raise RequestInProgress from error
            raise
        row = cursor.fetchone()
    return None if row is None else int(row[0])


def _recall(claim: Claim, statement: str = RECALL) -> tuple[int, bytes] | None:
    with connection.cursor() as cursor:
        cursor.execute(statement, (claim.principal, claim.key))
        row = cursor.fetchone()
    if row is None:
        return None
    fingerprint, status, body = row
    if bytes(fingerprint) != claim.fingerprint:
        raise KeyReused
    return int(status), bytes(body)


def _written(answer: HttpResponse | Response) -> HttpResponse:
    return json_response(answer.data, answer.status_code) if isinstance(answer, Response) else answer


class Idempotency(Generic[Handled]):
    """Answers a request that repeats its `Idempotency-Key` as the first one was answered, for 24 hours.

    The key is checked before the body is validated, and only successes are remembered. The answer is stored, so it must
    hold no secret; an action with secrets in its answers overrides `remembered` and `replayed`. With `is_permanent` the
    key stays used for as long as the object that it answered for may exist (`CONNECT_SESSIONS_KEPT_DAYS`).
    """

    is_permanent = False

    def remembered(self, answer: HttpResponse) -> bytes:
        """Return the part of the first answer that is stored."""
        return answer.content

    def replayed(self, view: Handled, status: int, stored: bytes) -> HttpResponse:
        """Make the answer to a repeated request."""
        return HttpResponse(stored, status=status, content_type=CONTENT_TYPE)

    def answer_once(
        self, view: Handled, request: Request, work: Work, prepare: Callable[[], None] | None = None
    ) -> HttpResponse:
        """Do the work or replay its answer. `view.principal` names the key's owner, such as `agency:12`.

        The work refuses by raising, which leaves nothing behind. It runs inside a transaction of this function, so it
        must not open a durable one. Network calls belong in `prepare`. It runs before that transaction, and does not
        run for a request that was answered before.
        """
        key = presented_idempotency_key(request)
        if key is None:
            if prepare:
                prepare()
            return _written(work())
        claim = Claim(view.principal, key, fingerprint_of(request), self.is_permanent)
        if prepare:
            earlier = _recall(claim, RECALL_LIVE)
            if earlier:
                return self._replay(view, earlier)
            prepare()
        for _ in range(WAITS - 1):
            try:
                return self._answer(view, claim, work)
            except RequestInProgress:
                continue
        return self._answer(view, claim, work)

    def _answer(self, view: Handled, claim: Claim, work: Work) -> HttpResponse:
        with transaction.atomic(durable=True):
            row_id = _claim(claim)
            if row_id is not None:
                answer = _written(work())
                with connection.cursor() as cursor:
                    cursor.execute(KEEP, (answer.status_code, self.remembered(answer), row_id))
                return answer
            earlier = _recall(claim)
        if earlier is None:
            raise RequestInProgress
        return self._replay(view, earlier)

    def _replay(self, view: Handled, earlier: tuple[int, bytes]) -> HttpResponse:
        answer = self.replayed(view, *earlier)
        answer.headers["Idempotent-Replayed"] = "true"
        return answer


def reencrypt_answers() -> RotationResult:
    """Encrypt the sealed members of stored answers with the first key, for `rotate_encryption_keys`."""
    done, last = RotationResult(), 0
    while True:
        with connection.cursor() as cursor:
            cursor.execute(NEXT_SEALED, (f'"{SEALED}":'.encode(), last))
            rows: list[tuple[int, bytes | None]] = cursor.fetchall()
        if not rows:
            return done
        for row_id, body in rows:
            if body is not None:
                _reencrypt(done, row_id, bytes(body))
        last = rows[-1][0]


def _reencrypt(done: RotationResult, row_id: int, body: bytes) -> None:
    """Encrypt an answer anew, and add the outcome; nothing is added for an answer without the member itself."""
    answer = orjson.loads(body)
    if isinstance(answer, dict) and isinstance(sealed := answer.get(SEALED), str):
        done.add(_outcome(row_id, body, answer, sealed), str(row_id))


def _outcome(row_id: int, body: bytes, answer: dict[str, object], sealed: str) -> Outcome:
    try:
        renewed = reencrypt_text(sealed)
    except UnreadableSecret:
        return "unreadable"
    if renewed is None:
        return "current"
    try:
        with connection.cursor() as cursor:
            cursor.execute(REPLACE, (orjson.dumps({**answer, SEALED: renewed}), row_id, body))
            return "re-encrypted" if cursor.rowcount else "changed meanwhile"
    except OperationalError:  # the row is locked for longer than we wait
        return "changed meanwhile"


# The object that a permanent key answered for is deleted a day later than the key.
RULES = (
    ExpiredRows("api_idempotencyrecord", "created_at", KEPT, order="created_at", of="NOT is_permanent").rule(
        "idempotency_keys"
    ),
    ExpiredRows(
        "api_idempotencyrecord",
        "created_at",
        timedelta(days=settings.CONNECT_SESSIONS_KEPT_DAYS),
        order="created_at",
        of="is_permanent",
    ).rule("permanent_idempotency_keys"),
)
