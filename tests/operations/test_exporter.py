"""`manage.py serve_metrics`, as Prometheus meets it."""

import re
import subprocess
import sys
import urllib.request

import pytest

from tests.processes.own_processes import variables
from tests.processes.starting import start_process, stop

pytestmark = pytest.mark.slow


@pytest.mark.django_db
def test_the_exporter_answers_on_a_port_of_its_own_and_ends_when_asked() -> None:
    command = [sys.executable, "manage.py", "serve_metrics", "--port", "0"]
    with start_process(command, variables(), stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            found = re.fullmatch(r"metrics at (http://127\.0\.0\.1:\d+/metrics)\n", process.stdout.readline().decode())
            assert found
            with urllib.request.urlopen(found[1], timeout=60) as answer:
                text = answer.read().decode()
            assert "postgres_up 1.0" in text
            assert "# TYPE web_request_seconds histogram" in text
        finally:
            assert stop(process) == 0
