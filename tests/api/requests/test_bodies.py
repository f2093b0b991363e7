"""What is read as a body, and what is refused with which status."""

import io
import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from hypothesis import given, settings
from hypothesis import strategies as st

from config.api.errors import BadRequest, TooLarge
from config.api.parsers import StrictJSONParser, canonical_bytes, parse_object
from tests.api.conftest import AGENCY
from tests.sizes import size

pytestmark = pytest.mark.slow

Send = Callable[..., Any]
NEST = 100


@pytest.mark.parametrize(
    "body",
    [
        b'{"a":1}',
        b' \r\n\t{"a": [1, -2.5e3, true, null, "\\u00e9\\ud83d\\ude00"]}\n',
        '{"ключ": "значение", "emoji": "\U0001f600"}'.encode(),
        b'{"' + b"k" * 5000 + b'": ""}',
        b'{"a": 9223372036854775807, "b": -9223372036854775808, "c": 1e308, "d": -0}',
        b'{"a": "\\\\u0000 \\\\ud800 are plain text"}',
        b'{"a":' * NEST + b"1" + b"}" * NEST,
        b'{"a": "' + b"[" * 5000 + b'"}',
        b'{"a": "\\"' + b"{[" * 200 + b'\\\\", "b": [[]]}',
    ],
)
def test_an_object_is_read_as_it_is(send: Send, body: bytes) -> None:
    answer = send(body)
    assert (answer.status_code, answer.json()) == (200, {"data": json.loads(body)})


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "The body is empty; send a JSON object."),
        (b"   ", "The body is not valid JSON."),
        (b"{", "The body is not valid JSON."),
        (b'{"a":1,}', "The body is not valid JSON."),
        (b"{'a':1}", "The body is not valid JSON."),
        (b'{"a":01}', "The body is not valid JSON."),
        (b'{"a":"\x00"}', "The body is not valid JSON."),
        (b'{"a":"\n"}', "The body is not valid JSON."),
        (b'{"a":1} {"b":2}', "The body is not valid JSON."),
        (b'{"a":\xff}', "The body is not valid UTF-8."),
        (b'{"a":"\xed\xa0\x80"}', "The body is not valid UTF-8."),
        (b'\xef\xbb\xbf{"a":1}', "The body is not valid JSON."),
        ('{"a":1}'.encode("utf-16"), "The body is not valid UTF-8."),
        (b"[]", "The body must be a JSON object."),
        (b'"text"', "The body must be a JSON object."),
        (b"null", "The body must be a JSON object."),
        (b"7", "The body must be a JSON object."),
        (b'{"a":1,"a":1}', "The body repeats a key within an object."),
        (b'{"o":[{"a":1,"\\u0061":2}]}', "The body repeats a key within an object."),
        (b'{"a":NaN}', "NaN is not a JSON number."),
        (b'{"a":Infinity}', "Infinity is not a JSON number."),
        (b'{"a":[-Infinity]}', "-Infinity is not a JSON number."),
        (b'{"a":' * (NEST + 1) + b"1" + b"}" * (NEST + 1), "The body is nested deeper than 100 levels."),
        (b"[" * 100_000, "The body is nested deeper than 100 levels."),
        (b'{"a":' * 5000, "The body is nested deeper than 100 levels."),
        (b'{"a":"' + b'\\"' * 400_000 + b"[" * 200, "The body is not valid JSON."),
    ],
)
def test_what_is_no_json_object_is_400(send: Send, body: bytes, message: str) -> None:
    answer = send(body)
    assert (answer.status_code, answer.json()) == (400, {"message": message})


@pytest.mark.parametrize(
    "value",
    [
        b'"\\u0000"',
        b'"\\ud800"',
        b'"\\udfff\\ud800"',
        b'{"owner":{"email":"\\u0000"},"order":["ok","\\uD83D"]}',
        b'{"\\u0000":1}',
        b"9223372036854775808",
        b"[1" + b"0" * 200 + b"]",
        b"9" * 5000,
        b'{"b":1e400}',
        b"-1e999",
        b"[" + b",".join([b'"\\u0000"'] * 50_000) + b"]",
    ],
    ids=lambda value: value[:20].decode(),
)
def test_what_is_in_an_unknown_field_is_not_looked_at(agency: Client, value: bytes) -> None:
    body = b'{"name":"Bakery","unknown":' + value + b',"\\ud800":"\\u0000"}'
    answer = agency.post(f"{AGENCY}/things", data=body, content_type="application/json")
    assert (answer.status_code, answer.json()["data"]["sent"]) == (201, ["name"])


@pytest.mark.django_db
def test_another_value_in_an_unknown_field_makes_another_body(agency: Client) -> None:
    def post(unknown: bytes) -> int:
        body = b'{"name":"Bakery","unknown":' + unknown + b"}"
        headers = {"Idempotency-Key": "the-same"}
        answer = agency.post(f"{AGENCY}/things", data=body, content_type="application/json", headers=headers)
        return answer.status_code

    assert [post(value) for value in (b"1e999", b"1e999", b"2e999", b'"\\ud800"')] == [201, 201, 409, 409]


@pytest.mark.parametrize(
    ("body", "field", "sentence"),
    [
        (b'{"name":"x\\u0000"}', "name", "The name field holds characters that cannot be stored."),
        (b'{"name":"\\u0000"}', "name", "The name field holds characters that cannot be stored."),
        (b'{"name":"\\ud800"}', "name", "The name field holds characters that cannot be stored."),
        (b'{"name":"x","note":"\\udfff\\ud800"}', "note", "The note field holds characters that cannot be stored."),
        (b'{"name":1e999}', "name", "The name field must be a string."),
        (b'{"name":' + b"9" * 5000 + b"}", "name", "The name field must be a string."),
        (b'{"name":"x","size":9223372036854775808}', "size", "The size field is out of range."),
        (b'{"name":"x","size":-1e999}', "size", "The size field is out of range."),
        (b'{"name":"x","order":["\\u0000"]}', "order.0", "Each entry of the order field must be a uuid."),
        (b'{"name":"x","owner":{"name":"\\u0000"}}', "owner.name", None),
    ],
)
def test_what_no_field_can_take_is_422_at_that_field(
    agency: Client, body: bytes, field: str, sentence: str | None
) -> None:
    answer = agency.post(f"{AGENCY}/things", data=body, content_type="application/json")
    assert answer.status_code == 422
    assert field in answer.json()["errors"]
    assert sentence is None or answer.json()["errors"] == {field: [sentence]}


@pytest.mark.parametrize(
    "content_type",
    [
        "application/json",
        "application/json; charset=utf-8",
        "application/json;charset=UTF-8",
        'Application/JSON ; charset="utf-8"',
        "application/json; version=2",
        "application/json; charset=utf8",
    ],
)
def test_json_in_utf_8_is_taken(send: Send, content_type: str) -> None:
    assert send(b'{"a":1}', content_type).status_code == 200


@pytest.mark.parametrize(
    "content_type",
    [
        "",
        "text/plain",
        "text/json",
        "application/xml",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/json; charset=utf-16",
        "application/json; charset=iso-8859-1",
        "application/json; charset=utf-8; charset=utf-16",
        "application/json; charset = utf-16",
        "application/json, text/plain",
        "application/jsonp",
        "application/vnd.api+json",
        "\xff",
    ],
)
def test_any_other_type_or_charset_is_415(send: Send, content_type: str) -> None:
    answer = send(b'{"a":1}', content_type)
    assert (answer.status_code, list(answer.json())) == (415, ["message"])


@pytest.mark.parametrize("charset", ["hex", "undefined", "idna", "utf-16", "no-such-charset"])
def test_a_charset_that_decodes_no_text_is_no_fault_where_there_is_a_query(agency: Client, charset: str) -> None:
    media = f"application/json; charset={charset}"
    read = agency.generic("GET", "/api/agency/v1/things?page=1&search=%C3%A9", b"", content_type=media)
    assert read.status_code == 200
    written = agency.generic("POST", "/api/agency/v1/echo?a=b", b'{"name": "x"}', content_type=media)
    assert written.status_code == 415


@pytest.mark.parametrize("coding", ["gzip", "br", "deflate", "gzip, identity"])
def test_a_compressed_body_is_415(send: Send, coding: str) -> None:
    assert send(b'{"a":1}', headers={"Content-Encoding": coding}).status_code == 415


def test_the_identity_coding_is_none(send: Send) -> None:
    assert send(b'{"a":1}', headers={"Content-Encoding": "identity"}).status_code == 200


def test_a_body_of_exactly_one_mebibyte_is_taken_and_a_byte_more_is_413(send: Send) -> None:
    frame = len(b'{"a":""}')
    assert send(b'{"a":"' + b"x" * (1024 * 1024 - frame) + b'"}').status_code == 200
    answer = send(b'{"a":"' + b"x" * (1024 * 1024 - frame + 1) + b'"}')
    assert (answer.status_code, answer.json()) == (413, {"message": "The body is larger than 1 MiB."})


def test_too_large_a_body_is_refused_unread(agency: Client) -> None:
    answer = agency.post(f"{AGENCY}/echo", data=b"{}", content_type="application/json", CONTENT_LENGTH=str(10**12))
    assert answer.status_code == 413


@pytest.mark.parametrize("length", ["abc", "-5", "1e3", "\u0665", "9" * 30])
def test_a_length_that_is_no_number_is_400(agency: Client, length: str) -> None:
    answer = agency.post(f"{AGENCY}/echo", data=b'{"a":1}', content_type="application/json", CONTENT_LENGTH=length)
    assert answer.status_code == 400


class Chunks(io.BytesIO):
    """A body as a server hands it over that has put its chunks together: it ends where the body does."""


def in_chunks(agency: Client, body: bytes, *, put_together: bool = True) -> Any:
    server: dict[str, Any] = {
        "wsgi.input": Chunks(body),
        "wsgi.input_terminated": put_together,
        "CONTENT_LENGTH": "",
        "HTTP_TRANSFER_ENCODING": "chunked",
    }
    return agency.post(f"{AGENCY}/suspend", content_type="application/json", **server)


@pytest.mark.parametrize(
    ("body", "status"),
    [(b'{"reason":"x"}', 200), (b"", 200), (b'{"reason":', 400), (b'{"a":"%s"}' % (b"x" * 1024 * 1024), 413)],
)
def test_a_body_in_chunks_is_read_like_any_other(agency: Client, body: bytes, status: int) -> None:
    assert in_chunks(agency, body).status_code == status


def test_a_server_that_cannot_put_chunks_together_loses_no_body(agency: Client) -> None:
    answer = in_chunks(agency, b'{"reason":"x"}', put_together=False)
    assert (answer.status_code, list(answer.json())) == (400, ["message"])


def test_bodies_of_reads_are_not_looked_at(agency: Client) -> None:
    answer = agency.generic("GET", f"{AGENCY}/things", b"\xff{", content_type="text/plain")
    assert answer.status_code == 200


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(min_value=-(2**63), max_value=2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("abc\u00e9"), inner, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(st.text("abcdef"), JSON), st.booleans())
@settings(max_examples=size("requests", "bodies"))
def test_every_clean_object_comes_through_unchanged(value: dict[str, Any], ascii_only: bool) -> None:
    assert parse_object(json.dumps(value, ensure_ascii=ascii_only).encode()) == value


TOKENS = [*(bytes([mark]) for mark in b'{}[]":,a\\1- \xff'), b"\\u0000", b"\\ud800", b"e9"]


@given(st.lists(st.sampled_from(TOKENS) | st.binary(max_size=3), max_size=60))
@settings(max_examples=size("requests", "bodies"))
def test_no_bytes_are_a_surprise(pieces: list[bytes]) -> None:
    try:
        value = parse_object(b"".join(pieces))
    except BadRequest:
        return
    assert canonical_bytes(value) == canonical_bytes(parse_object(b" " + b"".join(pieces)))


def test_the_parser_reads_like_the_surfaces() -> None:
    assert StrictJSONParser().parse(io.BytesIO(b'{"a":1}')) == {"a": 1}
    with pytest.raises(BadRequest):
        StrictJSONParser().parse(io.BytesIO(b"[]"))
    with pytest.raises(TooLarge):
        StrictJSONParser().parse(io.BytesIO(b" " * (1024 * 1024 + 1)))
