"""Watches every answer of the two surfaces and every envelope while the tests run; what departs fails the test."""

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import orjson
import pytest
from django.conf import settings
from django.core.handlers.base import BaseHandler
from django.db.models.signals import post_save
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.test import override_settings

from agency.models import Event
from agency.pages.branding import host_agency_id, host_name, is_installations
from config.api.documents import building
from config.api.documents.building import Document
from tests.document.validation import DocumentValidator

# Tests of small made-up surfaces put their own URLs at the same addresses; no published document describes those.
PUBLISHED = "config.urls"
ID = re.compile(r"<(?:\w+:)?(\w+)>")
SURFACES = (building.AGENCY, building.WORKSPACE)

# Filled by any thread, the live server's among them; emptied by the test that runs.
found_mistakes: list[str] = []
# Events that a test has declared itself are in no document.
declared_by_tests: set[str] = set()


@lru_cache(maxsize=len(SURFACES))
def validator_of(document: Document) -> DocumentValidator:
    """Build the published document once per process, before the first test that will need it."""
    with override_settings(ROOT_URLCONF=PUBLISHED):
        return DocumentValidator(orjson.loads(building.written(document, PUBLISHED)))


def surface_of(path: str) -> Document | None:
    return next((document for document in SURFACES if path.startswith(f"{document.prefix}/")), None)


@lru_cache(maxsize=1024)
def documented_path(route: str) -> str:
    """Write a route as the document does: `/api/v1/channels/{channel}`."""
    return "/" + ID.sub(r"{\1}", route)


def is_hosts_refusal(request: HttpRequest) -> bool:
    """Say whether a request went to a host that is nobody's, where there is no surface and no document."""
    name = host_name(request.META.get("HTTP_HOST", request.META.get("SERVER_NAME", "")))
    return host_agency_id(request) is None and not is_installations(name)


def watch_answer(request: HttpRequest, response: Any) -> None:
    """Record what an answer has that its surface's document does not."""
    document = surface_of(request.path)
    if document is None or request.path == document.path or settings.ROOT_URLCONF != PUBLISHED:
        return
    if is_hosts_refusal(request):
        return
    path = documented_path(request.resolver_match.route) if request.resolver_match else request.path
    found_mistakes.extend(
        validator_of(document).answer_mistakes(str(request.method), path, response.status_code, response.content)
    )


def watch_envelope(body: bytes) -> None:
    """Note what an envelope has that its audience's document does not, where that document describes events at all."""
    if orjson.loads(body).get("event") in declared_by_tests:
        return
    document = building.WORKSPACE if b'"workspace_id":' in body.partition(b'"data":')[0] else building.AGENCY
    validator = validator_of(document)
    if document == building.AGENCY or "webhooks" in validator.document:
        found_mistakes.extend(validator.envelope_mistakes(body))


def _watch_event(instance: Event, created: bool, **_: Any) -> None:
    if created:
        watch_envelope(bytes(instance.body))


def _watching(get_response: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    def watched(handler: BaseHandler, request: HttpRequest) -> HttpResponseBase:
        response = get_response(handler, request)
        watch_answer(request, response)
        return response

    return watched


@pytest.fixture(scope="session", autouse=True)
def _watch_surfaces() -> Iterator[None]:
    """Look at what the test client and live servers answer, and at every event that is recorded."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BaseHandler, "get_response", _watching(BaseHandler.get_response))
        post_save.connect(_watch_event, sender=Event)
        yield
        post_save.disconnect(_watch_event, sender=Event)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Build the documents before a test that will need them: in its transaction, a busy machine might take too long."""
    if {"a", "b", "anonymous", "live_server"}.intersection(getattr(item, "fixturenames", ())):
        for document in SURFACES:
            validator_of(document)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Iterator[None]:
    """Fail the test during which something departed from its document."""
    found_mistakes.clear()
    yield
    if found_mistakes:
        pytest.fail("\n".join(dict.fromkeys(found_mistakes)), pytrace=False)
