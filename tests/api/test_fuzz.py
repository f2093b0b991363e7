"""Whatever is sent, the answer is JSON and no fault of ours."""

import json
from typing import Any

import pytest
from django.test import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.api.conftest import AGENCY, WORKSPACE
from tests.sizes import size

pytestmark = pytest.mark.slow

METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "FOO", "get"]
PATHS = ["/things", "/things/%s", "/echo", "/suspend", "/nothing/%s", "/%s", ""]
TYPES = ["application/json", "application/json; charset=%s", "text/plain", "multipart/form-data; boundary=x", "%s"]
HEADERS = ["HTTP_X_FORWARDED_FOR", "HTTP_CONTENT_ENCODING", "HTTP_ACCEPT", "HTTP_X_REQUEST_ID", "HTTP_AUTHORIZATION"]
# What a server passes on in a header: no line breaks, and bytes as Latin-1.
HEADER_TEXT = st.text(st.characters(max_codepoint=255, exclude_characters="\r\n\0"), max_size=20)


@pytest.fixture
def _without_limits(settings: Any) -> None:
    settings.AGENCY_KEY_LIMIT = settings.ADDRESS_LIMIT = 10**6


@pytest.mark.usefixtures("_without_limits")
@given(
    surface=st.sampled_from([AGENCY, WORKSPACE]),
    method=st.sampled_from(METHODS),
    path=st.sampled_from(PATHS),
    piece=st.binary(max_size=20),
    body=st.binary(max_size=60) | st.sampled_from([b"{}", b'{"name":"x"}', b"[" * 2000, b'{"a":"\\u0000"}']),
    media=st.sampled_from(TYPES),
    charset=HEADER_TEXT,
    headers=st.dictionaries(st.sampled_from(HEADERS), HEADER_TEXT, max_size=3),
)
@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=size("requests", "hostile requests")
)
def test_hostile_requests_get_a_plain_refusal(
    agency: Client,
    surface: str,
    method: str,
    path: str,
    piece: bytes,
    body: bytes,
    media: str,
    charset: str,
    headers: dict[str, Any],
) -> None:
    odd = piece.decode("latin-1")
    answer = agency.generic(
        method,
        surface,
        body,
        content_type=media.replace("%s", charset),
        PATH_INFO=surface + path.replace("%s", odd),
        QUERY_STRING=odd,
        **headers,
    )
    assert answer.status_code < 500
    assert answer["Content-Type"] == "application/json"
    if method != "HEAD":
        assert isinstance(json.loads(answer.content), dict)
    if answer.status_code >= 400 and method != "HEAD":
        assert answer.json()["message"]
