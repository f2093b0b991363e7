"""Starts a connection once for each `Idempotency-Key`, which is kept with the session that it started."""

from collections.abc import Callable
from typing import Any

import orjson
from django.db import transaction
from django.http import HttpResponse
from rest_framework.request import Request

from channelconnect.services import KeyTaken, keep_idempotency_key, require_connect, session_by_key
from config.api.idempotency import Idempotency, KeyReused, Work, fingerprint_of, presented_idempotency_key


class ConnectionIdempotency(Idempotency):
    """Answers a repeated request with 200 and the connection as it is now, for as long as the connection is kept.

    It stores no answer, and so no secret address.
    """

    def answer_once(
        self, view: Any, request: Request, work: Work, prepare: Callable[[], None] | None = None
    ) -> HttpResponse:
        """Do the work, or show the connection that the key has started. `prepare` is not used here."""
        key = presented_idempotency_key(request)
        if key is None:
            return work()
        digest = fingerprint_of(request)
        try:
            return self._start(view, key, digest, work)
        except KeyTaken:
            return self._again(view, key, digest)

    def _start(self, view: Any, key: str, digest: bytes, work: Work) -> HttpResponse:
        """Do the work unless the key is used. Of several requests at once only one succeeds."""
        if session_by_key(view.agency, key) is not None:
            raise KeyTaken
        with transaction.atomic(durable=True):
            answer = work()
            started = orjson.loads(answer.content)["data"]["id"]
            keep_idempotency_key(agency=view.agency, connection_id=started, key=key, request_digest=digest)
            return answer

    def _again(self, view: Any, key: str, digest: bytes) -> HttpResponse:
        session = session_by_key(view.agency, key)
        if session is None or bytes(session.request_digest or b"") != digest:
            raise KeyReused
        require_connect(view.agency)
        answer: HttpResponse = view.answer_with_address(session, status=200)
        answer.headers["Idempotent-Replayed"] = "true"
        return answer
