"""What nobody sends by accident is refused with 400, one line in the log and no trace."""

import logging
from typing import Any

import pytest
from django.test import Client

from tests.tenants import an_address

pytestmark = pytest.mark.django_db
FIELDS = {f"field-{number}": "x" for number in range(1_001)}
MANY = "&".join(f"a{number}=1" for number in range(1_001))


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("post", "/account/sign-in"),
        ("post", "/account/invitation"),
        ("post", "/console/plans/new"),
        ("post", "/admin/login/"),
        ("post", "/admin/agency/agency/add/"),
        ("get", f"/admin/agency/agency/?{MANY}"),
        ("get", f"/account/sign-in?{MANY}"),
        ("get", "/admin/agency/user/?password__startswith=x"),
    ],
)
def test_too_many_fields_write_no_trace(
    method: str, path: str, support: Client, caplog: pytest.LogCaptureFixture
) -> None:
    browser: Any = Client(enforce_csrf_checks=True, REMOTE_ADDR=an_address())
    browser.cookies = support.cookies
    caplog.set_level(logging.INFO)
    answer = browser.post(path, FIELDS) if method == "post" else browser.get(path)
    assert answer.status_code == 400
    assert b"We could not understand this request" in answer.content
    lines = [record for record in caplog.records if record.exc_info or record.levelno >= logging.ERROR]
    assert lines == []
    (refused,) = [record for record in caplog.records if record.getMessage() == "request refused"]
    assert refused.levelno == logging.WARNING
