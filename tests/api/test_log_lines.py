"""How log lines read: JSON for machines, plain text for a person at a terminal; secrets in neither."""

import io
import json
import logging
from collections.abc import Iterator

import pytest
from django.test import Client

from config.api.keys import new_key
from config.logs import JSONFormatter, PlainFormatter


@pytest.fixture
def request_line(client: Client, caplog: pytest.LogCaptureFixture) -> logging.LogRecord:
    with caplog.at_level(logging.INFO, logger="requests"):
        client.get(f"/api/agency/v1/{new_key('svc_ag_')}")
    return next(record for record in caplog.records if record.name == "requests")


@pytest.mark.django_db
def test_a_request_in_a_terminal_says_what_was_asked_and_answered(request_line: logging.LogRecord) -> None:
    parts = PlainFormatter().format(request_line).split()
    assert parts[:4] == ["INFO", "requests", "request", "method=GET"]
    assert parts[4] == "path=/api/agency/v1/svc_ag_…"
    assert parts[5] == "status=401"
    assert parts[6].startswith("ms=")


@pytest.fixture(params=[PlainFormatter, JSONFormatter])
def terminal(request: pytest.FixtureRequest) -> Iterator[io.StringIO]:
    """What the requests' log writes while it is written: the id is known then, and not afterwards."""
    handler = logging.StreamHandler(io.StringIO())
    handler.setFormatter(request.param())
    logger = logging.getLogger("requests")
    logger.addHandler(handler)
    yield handler.stream
    logger.removeHandler(handler)


@pytest.mark.django_db
def test_every_line_of_a_request_carries_its_id(client: Client, terminal: io.StringIO) -> None:
    given = client.get("/api/agency/v1/plans", headers={"x-request-id": "order-4711"})
    made = client.get("/api/agency/v1/plans")
    first, second = terminal.getvalue().splitlines()
    assert given["X-Request-Id"] == "order-4711"
    for line, name in ((first, "order-4711"), (second, made["X-Request-Id"])):
        assert f"request_id={name} " in line or json.loads(line)["request_id"] == name


@pytest.mark.django_db
def test_a_request_for_machines_is_one_object(request_line: logging.LogRecord) -> None:
    line = json.loads(JSONFormatter().format(request_line))
    assert (line["level"], line["message"]) == ("info", "request")
    assert (line["method"], line["path"], line["status"]) == ("GET", "/api/agency/v1/svc_ag_…", 401)


def test_a_plain_line_shows_a_fault_without_the_keys_in_it(caplog: pytest.LogCaptureFixture) -> None:
    key = new_key("svc_ag_")
    try:
        raise ValueError(key)
    except ValueError:
        logging.getLogger("x").exception("bad")
    line = PlainFormatter().format(caplog.records[-1])
    assert line.startswith("ERROR x bad\nTraceback")
    assert line.endswith("ValueError: svc_ag_…")
    assert key not in line


@pytest.mark.django_db
def test_a_path_stays_on_its_line(client: Client, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="requests"):
        client.get("/api/a%0aERROR%20forged%1b[2J")
    record = next(record for record in caplog.records if record.name == "requests")
    line = PlainFormatter().format(record)
    assert line.isprintable()
    assert r"path='/api/a\nERROR forged\x1b[2J'" in line
