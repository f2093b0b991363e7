"""A start counts as done when our own web process says so."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from django.urls import reverse

from tests.tools.local.conftest import SmallSystem
from tools.local.errors import CannotStart
from tools.local.run import options
from tools.local.runner.plan import whole_system
from tools.local.runner.prepare import with_known_secrets
from tools.local.runner.summary import UNKNOWN, summary
from tools.local.runner.web import free_port, is_ready

KNOWN = {
    "agency": {"id": 1, "name": "Agency"},
    "agency_key": "key-one",
    "copy_key": "key-two",
    "console": {"url": "http://here/console/", "email": "owner@example.com", "password": "secret"},
    "customer": {"url": "http://here/app/", "email": "customer@example.com", "password": "third"},
    "admin": {"url": "http://here/admin/", "email": "admin@example.com", "password": "other"},
    "workspace": {"uuid": "0000", "name": "Demo", "key": "key-three"},
}


class Web(BaseHTTPRequestHandler):
    """Answers like the product, under the name `ours`."""

    status = "ready"

    def do_GET(self) -> None:
        body = json.dumps({"status": self.status, "instance": "ours"}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        return


@pytest.fixture
def web() -> Iterator[ThreadingHTTPServer]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Web) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_only_the_process_that_knows_the_token_counts(web: ThreadingHTTPServer) -> None:
    assert is_ready(web.server_port, "ours")
    assert not is_ready(web.server_port, "theirs")


def test_a_system_that_lacks_a_part_is_waited_for(web: ThreadingHTTPServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Web, "status", "degraded")
    assert not is_ready(web.server_port, "ours")


def test_nobody_on_the_port_is_not_ready() -> None:
    assert not is_ready(free_port(0), "ours")


def test_a_port_in_use_stops_the_start_before_anything_is_made(
    web: ThreadingHTTPServer, small_system: SmallSystem, state: Path
) -> None:
    refused = pytest.raises(CannotStart, match=rf"Port {web.server_port} cannot be used")
    with refused, small_system("--port", str(web.server_port)):
        pass
    assert [path.name for path in state.iterdir()] == ["lock"]


def test_secrets_shown_at_creation_are_remembered() -> None:
    again = KNOWN | {"agency_key": None, "workspace": {"uuid": "0000", "name": "Demo", "key": None}}
    del again["copy_key"]
    assert with_known_secrets(again, KNOWN) == KNOWN


def test_a_rotated_secret_replaces_the_remembered_one() -> None:
    assert with_known_secrets(KNOWN | {"agency_key": "new"}, KNOWN)["agency_key"] == "new"


def test_another_agency_s_secrets_are_forgotten() -> None:
    other = {"agency": {"id": 2, "name": "Other"}, "agency_key": None}
    assert with_known_secrets(other, KNOWN) == other


def test_the_summary_shows_every_address_log_in_and_key() -> None:
    text = summary("http://here", KNOWN, 1.5)
    for expected in (
        "http://here/readyz",
        "http://here/api/docs/agency",
        "owner@example.com  secret",
        "admin@example.com  other",
        "key-one",
    ):
        assert expected in text
    assert "key-two" in text
    assert "0000  Demo" in text
    assert "key-three" in text
    assert "customer@example.com  third" in text


def test_the_summary_says_where_e_mails_appear() -> None:
    assert "lines that begin with `mail`" in summary("http://here", KNOWN, 1.5)
    assert "go to smtp.example.com" in summary("http://here", KNOWN | {"smtp": "smtp.example.com"}, 1.5)


def test_the_summary_says_how_to_get_a_secret_that_is_not_known() -> None:
    text = summary("http://here", KNOWN | {"agency_key": None, "console": {"url": "u", "email": "e"}}, 1.5)
    assert text.count(UNKNOWN) == 2


def test_a_system_without_demo_data_has_a_summary_too() -> None:
    assert "http://here" in summary("http://here", {}, 1.5)


def test_the_port_comes_from_the_command_line_then_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PORT", "8123")
    assert options([]).port == 8123
    assert options(["--port", "9000"]).port == 9000
    monkeypatch.setenv("PORT", "")
    assert options([]).port == 8000


@pytest.mark.parametrize("odd", ["abc", "-1", "65536", "8000.0"])
def test_what_is_no_port_is_said_to_be_none(
    odd: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PORT", odd)
    with pytest.raises(SystemExit):
        options([])
    assert f"'{odd}' is not a port" in capsys.readouterr().err


def test_the_product_s_plan_names_its_processes(state: Path) -> None:
    plan = whole_system(state, 8123)
    assert [child.name for child in plan.children] == [
        *("web", "worker", "mail", "housekeeping", "dispatcher", "sender", "calls", "beat", "sandbox", "stripe")
    ]
    assert "8123" in plan.children[0].command


def test_the_plan_leads_to_the_sandbox_provider_which_knows_the_way_back(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PUBLIC_URL")
    plan = whole_system(state, 8123)
    command = next(child.command for child in plan.children if child.name == "sandbox")
    assert plan.variables["META_GRAPH_URL"] == f"http://127.0.0.1:{command[command.index('--port') + 1]}"
    assert f"http://127.0.0.1:8123{reverse('connect:callback')}" in command
    assert f"http://127.0.0.1:8123{reverse('connect:provider-events')}" in command


def test_a_real_app_replaces_the_sandbox_provider(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("META_APP_ID", "123")
    plan = whole_system(state, 8123)
    assert "sandbox" not in [child.name for child in plan.children]
    assert plan.variables.keys() == {"STRIPE_API_URL"}


def test_the_plan_leads_to_a_stand_in_for_stripe_unless_an_address_is_set(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = whole_system(state, 8123)
    command = next(child.command for child in plan.children if child.name == "stripe")
    assert plan.variables["STRIPE_API_URL"] == f"http://127.0.0.1:{command[command.index('--port') + 1]}"
    monkeypatch.setenv("STRIPE_API_URL", "https://api.stripe.com")
    plan = whole_system(state, 8123)
    assert "stripe" not in [child.name for child in plan.children]
    assert "STRIPE_API_URL" not in plan.variables


def test_the_summary_shows_the_sandbox_provider() -> None:
    assert "http://there" in summary("http://here", {"sandbox": "http://there"}, 1.5)
