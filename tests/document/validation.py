"""Compares answers and envelopes with a surface's OpenAPI document."""

from functools import cached_property
from typing import Any

import orjson
from jsonschema import Draft202012Validator

from config.api.errors import CONCURRENT_CHANGE
from tests.document.schemas import JSON, compiled, mistakes_in, resolved

CONTENT_TYPE = "application/json"
NOT_FOUND, WRONG_METHOD, CONFLICT = 404, 405, 409
WRITES = frozenset({"POST", "PUT", "PATCH", "DELETE"})
ERROR = {"$ref": "#/components/schemas/Error"}


class DocumentValidator:
    """One document with its validators, each compiled when it is first needed and kept."""

    def __init__(self, document: JSON) -> None:
        self.document = document
        self._answers: dict[tuple[str, int], Draft202012Validator] = {}
        self._envelopes: dict[str, Draft202012Validator] = {}

    @cached_property
    def operations(self) -> dict[tuple[str, str], JSON]:
        """Every operation by method and path."""
        paths = self.document["paths"].items()
        return {(method.upper(), path): one for path, methods in paths for method, one in methods.items()}

    @cached_property
    def shared_statuses(self) -> set[int]:
        """What every operation may answer, and so a path or method that is none as well."""
        return set.intersection(*({int(status) for status in one["responses"]} for one in self.operations.values()))

    @cached_property
    def _error(self) -> Draft202012Validator:
        return compiled(ERROR, self.document)

    def answer_mistakes(self, method: str, path: str, status: int, body: bytes) -> list[str]:
        """Say what an answer has that the document does not; `path` is the document's, with `{names}`."""
        operation = self.operations.get(("GET" if method == "HEAD" else method, path))
        if operation is None:
            return self._mistakes_beside(method, path, status, body)
        where = f"{operation['operationId']} ({method} {path}) answers {status}"
        if str(status) not in operation["responses"]:
            if self._is_lost_race(method, status, body):
                return []
            return [f"{where}, which the document does not declare:\n    {body!r}"]
        if CONTENT_TYPE not in resolved(operation["responses"][str(status)], self.document)["content"]:
            return []  # a file
        validator = self._answer(operation, status)
        return [f"{where}, {mistake}" for mistake in mistakes_in(orjson.loads(body), validator)]

    def _is_lost_race(self, method: str, status: int, body: bytes) -> bool:
        """Say whether it is the refusal that the introduction promises every write which meets another change."""
        return method in WRITES and status == CONFLICT and orjson.loads(body) == {"message": CONCURRENT_CHANGE}

    def _mistakes_beside(self, method: str, path: str, status: int, body: bytes) -> list[str]:
        """Judge the answer to a path that the document does not have, or has without this method."""
        where = f"{method} {path}, no operation, answers {status}"
        known = any(path == one for _, one in self.operations)
        if status not in self.shared_statuses | {WRONG_METHOD if known else NOT_FOUND}:
            return [f"{where}, which no operation would:\n    {body!r}"]
        return [f"{where}, {mistake}" for mistake in mistakes_in(orjson.loads(body), self._error)]

    def _answer(self, operation: JSON, status: int) -> Draft202012Validator:
        key = operation["operationId"], status
        if key not in self._answers:
            answer = resolved(operation["responses"][str(status)], self.document)
            self._answers[key] = compiled(answer["content"][CONTENT_TYPE]["schema"], self.document)
        return self._answers[key]

    def envelope_mistakes(self, body: bytes) -> list[str]:
        """Say what an envelope has that the document's `webhooks` do not."""
        envelope = orjson.loads(body)
        name = str(envelope.get("event")) if isinstance(envelope, dict) else ""
        if name not in self.document["webhooks"]:
            return [f"The event {name!r} is not among the document's webhooks:\n    {body!r}"]
        return [f"The envelope of {name}, {mistake}" for mistake in mistakes_in(envelope, self._envelope(name))]

    def _envelope(self, name: str) -> Draft202012Validator:
        if name not in self._envelopes:
            sent: Any = self.document["webhooks"][name]["post"]["requestBody"]["content"][CONTENT_TYPE]
            self._envelopes[name] = compiled(sent["schema"], self.document)
        return self._envelopes[name]
