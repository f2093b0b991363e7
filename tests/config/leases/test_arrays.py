"""What the array literals say is what PostgreSQL reads."""

from typing import Any

import pytest
from django.db import connection

from config.postgresql.arrays import binaries, decimals, integers, texts


def read(literal: str, kind: str) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT (%s)::{kind}[]", [literal])
        found: list[Any] = cursor.fetchone()[0]
    return found


@pytest.mark.django_db
def test_numbers_come_through() -> None:
    assert read(integers([1, None, -(2**62)]), "bigint") == [1, None, -(2**62)]
    assert read(decimals([0.5, None, 1.0004]), "float8") == [0.5, None, 1.0]
    assert read(integers([]), "bigint") == []


@pytest.mark.django_db
def test_texts_come_through_but_for_nul() -> None:
    odd = ["", "NULL", '"\\', "{a,b}", " ", "ü\n", None]
    assert read(texts(odd), "text") == odd
    assert read(texts(["a\0b"]), "text") == ["a\ufffdb"]


@pytest.mark.django_db
def test_bytes_come_through() -> None:
    found = read(binaries([b"\0\xff", b"", None]), "bytea")
    assert [None if one is None else bytes(one) for one in found] == [b"\0\xff", b"", None]
