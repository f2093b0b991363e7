"""What an answer of the event loop has beside what its app says."""

import asyncio
import logging
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from time import monotonic
from typing import Any, Unpack

import pytest

from config.event_loop_responses import EventLoopResponse, Scope
from config.serving.responses import send_loop_answer

SCOPE: Scope = {"type": "http", "method": "GET", "path": "/l/x", "scheme": "https", "headers": []}


def headers_of(answer: EventLoopResponse, **scope: Unpack[Scope]) -> dict[bytes, bytes]:
    sent: list[Mapping[str, Any]] = []

    async def send(message: Mapping[str, Any]) -> None:
        sent.append(message)

    # In a thread of its own: a browser that another test has opened may run a loop in this one.
    with ThreadPoolExecutor(1) as pool:
        pool.submit(lambda: asyncio.run(send_loop_answer(send, {**SCOPE, **scope}, answer, []))).result()
    return dict(sent[0]["headers"])


def test_https_is_promised_as_django_does_and_on_an_agency_s_host_for_it_alone(settings: Any) -> None:
    settings.SECURE_HSTS_SECONDS, settings.SECURE_HSTS_INCLUDE_SUBDOMAINS, settings.SECURE_HSTS_PRELOAD = 60, True, True
    ours, theirs = (
        headers_of(EventLoopResponse(302, [], is_installations=is_ours))[b"strict-transport-security"]
        for is_ours in (True, False)
    )
    assert (ours, theirs) == (b"max-age=60; includeSubDomains; preload", b"max-age=60")
    plain = headers_of(EventLoopResponse(302, [], is_installations=True), scheme="http")
    assert b"strict-transport-security" not in plain


def test_its_line_in_the_log_says_how_long_it_took(caplog: pytest.LogCaptureFixture) -> None:
    began = monotonic()
    with caplog.at_level(logging.INFO, logger="requests"):
        headers_of(EventLoopResponse(302, [], is_installations=True))
    took_ms = (monotonic() - began) * 1_000
    [line] = caplog.records
    assert (line.__dict__["status"], line.__dict__["path"]) == (302, "/l/x")
    assert 0 <= line.__dict__["ms"] <= took_ms
