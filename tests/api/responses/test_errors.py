"""Every fault in the form of an error, and none with a trace of its cause."""

import threading

import pytest
from django.db import connection, transaction
from django.test import Client

from tests.api.conftest import AGENCY

SERVER_ERROR = {"message": "Server error."}
OUT_OF_RANGE = "A value is out of range."
BUSY = {"message": "The service is busy at the moment. Send the request again."}
CONCURRENT_CHANGE = {"message": "Another request is changing this at the moment. Send the request again."}


@pytest.mark.parametrize(
    ("fault", "status", "body"),
    [
        ("bug", 500, SERVER_ERROR),
        ("missing", 404, {"message": "Thing not found."}),
        ("conflict", 409, {"message": "Not now."}),
        ("unavailable", 503, {"message": "Switched off."}),
        ("invalid", 422, {"message": "Too many things.", "errors": {"things": ["Too many things."]}}),
        ("http404", 404, {"message": "Not found."}),
        ("denied", 403, {"message": "You may not do this."}),
        ("bad", 400, {"message": "Bad request."}),
        ("unreadable", 400, {"message": "The body could not be read."}),
        ("too-big", 413, {"message": "The body is larger than 1 MiB."}),
        (
            "model",
            422,
            {"message": "Taken. (and 1 more error)", "errors": {"name": ["Taken."], "non_field_errors": ["Odd."]}},
        ),
        ("bare-integrity", 409, CONCURRENT_CHANGE),
        (
            "data",
            422,
            {"message": "A value is out of range.", "errors": {"non_field_errors": ["A value is out of range."]}},
        ),
        ("recursion", 400, {"message": "The body is nested too deeply."}),
        ("away", 503, BUSY),
    ],
)
@pytest.mark.django_db
@pytest.mark.parametrize("debug", [False, True])
def test_a_fault_has_its_status_and_sentence(
    agency: Client, settings: object, fault: str, status: int, body: object, debug: bool
) -> None:
    settings.DEBUG = debug  # type: ignore[attr-defined]  # pytest-django's settings
    answer = agency.get(f"{AGENCY}/faults/{fault}")
    assert (answer.status_code, answer.json()) == (status, body)
    assert answer["Cache-Control"] == "no-store"


def test_a_text_that_cannot_be_encoded_is_422(agency: Client) -> None:
    answer = agency.get(f"{AGENCY}/faults/unicode")
    assert answer.status_code == 422
    assert list(answer.json()) == ["message", "errors"]


@pytest.mark.django_db
def test_a_broken_constraint_quotes_no_row_in_answer_or_log(agency: Client, caplog: pytest.LogCaptureFixture) -> None:
    answer = agency.get(f"{AGENCY}/faults/integrity")
    assert (answer.status_code, answer.json()) == (409, CONCURRENT_CHANGE)
    (record,) = [record for record in caplog.records if record.name == "config.api.errors"]
    assert vars(record)["constraint"].startswith("auth_group_name")
    assert "canary" not in str(vars(record)).replace('canary-of-a-row")', "")


@pytest.mark.django_db(transaction=True)
def test_a_lock_that_is_not_free_in_time_is_no_fault_of_the_request(agency: Client) -> None:
    locked, done = threading.Event(), threading.Event()

    def hold() -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("LOCK TABLE auth_group IN ACCESS EXCLUSIVE MODE")
            locked.set()
            done.wait(60)
        connection.close()

    holder = threading.Thread(target=hold)
    holder.start()
    assert locked.wait(60)
    with transaction.atomic():
        answer = agency.get(f"{AGENCY}/faults/lock")
        transaction.set_rollback(True)
    done.set()
    holder.join()
    assert (answer.status_code, answer.json(), answer["Retry-After"]) == (503, BUSY, "2")


def test_a_bug_is_logged_with_its_trace(agency: Client, caplog: pytest.LogCaptureFixture) -> None:
    agency.get(f"{AGENCY}/faults/bug")
    (record,) = [record for record in caplog.records if record.name == "config.api.errors"]
    assert record.levelname == "ERROR"
    assert record.exc_info is not None


def test_a_view_on_no_surface_lets_nobody_in(client: Client) -> None:
    answer = client.get("/api/stray")
    assert (answer.status_code, answer.json()) == (403, {"message": "This endpoint is closed."})
