"""The dearest inputs that are known of what docs/security.md lists: what reading one may hold in memory at most."""

import re
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from django.test import Client

from agency.actors import SYSTEM
from broadcasts.services.costs import RateCardRefused, import_rates
from channelconnect.providers.notices.parsing import json_of
from config.api.errors import BadRequest
from config.api.parsers import parse_object
from config.request_bodies import MIB
from tests.sizes import size

PAGE = Path(__file__).parents[2] / "docs/security.md"
ROOT = PAGE.parents[1]
# How much memory reading takes goes with the size of what is read: the limits are so many times its size.
SIZE = size("large", "quarters of a MiB") * MIB // 4
HEADINGS = b"currency,category,market,price,valid_from"


def peak(work: Callable[[], object]) -> int:
    """Give what was in memory at the most while the work was done."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def filled(beginning: bytes, text: bytes, end: bytes) -> bytes:
    """Repeat a text until the whole has its size."""
    times = (SIZE - len(beginning) - len(end)) // len(text)
    return beginning + (text * times).rstrip(b",") + end


@pytest.mark.parametrize("text", [b"{},", b"[],", b'{"a":1},', b'"ab",', b"9" * 25 + b",", b'"\\u0000",'])
def test_a_json_body_takes_at_most_so_much_memory(text: bytes) -> None:
    body = filled(b'{"a":[', text, b"]}")
    assert peak(lambda: parse_object(body)) < 40 * SIZE


@pytest.mark.parametrize("text", [b"[", b'"\\', b'{"a":'])
def test_a_json_body_that_never_ends_is_refused_for_little(text: bytes) -> None:
    body = filled(b'{"a":', text, b"")

    def read() -> None:
        with pytest.raises(BadRequest):
            parse_object(body)

    assert peak(read) < 8 * SIZE


@pytest.mark.parametrize("text", [b"{},", b'{"a":1},', b'"\\ud800",'])
def test_a_callback_takes_at_most_so_much_memory(text: bytes) -> None:
    body = filled(b'{"a":[', text, b"]}")
    assert peak(lambda: json_of(body)) < 48 * SIZE


@pytest.mark.parametrize("text", [b"[", b'{"a":'])
def test_a_callback_that_is_nested_deeply_is_no_fault(text: bytes) -> None:
    with pytest.raises(ValueError, match=r".+"):
        json_of(filled(b"", text, b""))


@pytest.mark.parametrize(
    ("beginning", "text"),
    [(HEADINGS, b",ab"), (HEADINGS + b"\n", b"ab,"), (HEADINGS + b"\n", b"a\n"), (HEADINGS + b"\n", b"\n")],
    ids=["headings", "cells", "rows", "empty lines"],
)
def test_a_rate_card_takes_at_most_so_much_memory(beginning: bytes, text: bytes) -> None:
    content = filled(beginning, text, b"\n")

    def read() -> None:
        with pytest.raises(RateCardRefused):
            import_rates(content=content, by=SYSTEM)

    assert peak(read) < 48 * SIZE


@pytest.mark.django_db
@pytest.mark.parametrize("kind", ["application/x-www-form-urlencoded", "multipart/form-data; boundary=b"])
def test_a_form_has_a_bounded_number_of_fields(kind: str) -> None:
    field = b"a&" if "urlencoded" in kind else b'--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n\r\n'
    answer = Client().post("/account/sign-in", field * 1_010, content_type=kind)
    assert answer.status_code == 400


@pytest.mark.django_db
def test_a_form_has_one_file() -> None:
    part = b'--b\r\nContent-Disposition: form-data; name="a"; filename="a"\r\n\r\n\r\n'
    body = part * 2 + b"--b--\r\n"
    answer = Client().post("/account/sign-in", body, content_type="multipart/form-data; boundary=b")
    assert answer.status_code == 400


def test_every_test_that_the_page_names_is_there() -> None:
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE.read_text())
    assert len(named) > 10
    for path, name in named:
        assert f"def {name}(" in (ROOT / path).read_text(), (path, name)
