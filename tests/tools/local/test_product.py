"""The whole system, as `make run` starts it."""

import json
import os
import signal
import stat
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.database.dump import make_cluster
from tests.docs.test_broadcasts_page import CALL, PAGE
from tests.tenants import WORKSPACE_BASE
from tests.tools.local.conftest import SmallSystem
from tests.tools.local.processes import all_gone, children_of
from tests.tools.system import RunningSystem, running_system
from tests.waiting import until
from tools.local.runner.demo_number import NUMBER
from tools.local.runner.web import get
from tools.sandbox import RunningSandbox, SandboxConfig

pytestmark = pytest.mark.slow


def read(system: RunningSystem, path: str) -> dict[str, object]:
    _, body = get(int(system.env["PORT"]), path)
    found: dict[str, object] = json.loads(body)
    return found


def secrets_of(system: RunningSystem) -> list[str]:
    known = system.bootstrap
    passwords = [known[name]["password"] for name in ("console", "customer", "admin")]
    return [known["agency_key"], known["copy_key"], known["workspace"]["key"], *passwords]


def is_verified_by_the_sandbox(system: RunningSystem) -> bool:
    """Have the sandbox provider ask the product whether its address is the product's own."""
    result = RunningSandbox(system.env["META_GRAPH_URL"], SandboxConfig.read({})).callback(kind="verification")
    return bool(result["is_verified"])


def answer_somebody_and_see_it_read(system: RunningSystem) -> None:
    """From the network's callback to the API, from the API to the network, and back: through every process.

    The demo number is connected as somebody's consent would have done it.
    """
    sandbox = RunningSandbox(system.env["META_GRAPH_URL"], SandboxConfig.read({}))
    sandbox.callback(kind="message", account=NUMBER.id, person="491701234567", name="Ada", text="Is it ready?")

    api = requests.Session()
    api.headers["Authorization"] = f"Bearer {system.bootstrap['workspace']['key']}"
    conversations = f"{system.url}{WORKSPACE_BASE}/conversations"

    def shown(url: str) -> Any:
        return api.get(url, timeout=60).json()["data"]

    def adas() -> list[Any]:
        return [one for one in shown(conversations) if one["contact"]["name"] == "Ada"]

    [conversation] = until(adas, what="the conversation")
    messages = f"{conversations}/{conversation['id']}/messages"
    assert api.post(messages, json={"text": "Yes, come any time."}, timeout=60).status_code == 201
    until(lambda: shown(messages)[0]["status"] == "read", what="the answer to be read")
    api.post(f"{conversations}/{conversation['id']}/read", json={}, timeout=60)
    [mark] = until(lambda: sandbox.ledger()["marks"], what="the network to hear that it was read")
    assert (mark["body"]["status"], sandbox.ledger()["sent_total"]) == ("read", 1)


def send_the_first_broadcast_of_the_page(system: RunningSystem) -> None:
    """As docs/broadcasts.md has it, with the printed key: the demo number is connected and has the template."""
    api = requests.Session()
    api.headers["x-api-key"] = system.bootstrap["workspace"]["key"]
    base = f"{system.url}{WORKSPACE_BASE}"
    channels = api.get(f"{base}/channels", timeout=60).json()["data"]
    [demo] = [one for one in channels if one["name"] == "Demo number"]
    assert (demo["status"], demo["remaining_allowance"]) == ("active", 2_000)
    create, schedule, *_ = CALL.finditer(PAGE.read_text())
    body = json.loads(create["body"].replace("{channel}", demo["id"]))
    made = api.post(f"{base}{create['path']}", json=body, timeout=60)
    assert made.status_code == 201, made.text
    path = schedule["path"].replace("{broadcast}", made.json()["data"]["id"])
    scheduled = api.post(f"{base}{path}", json=json.loads(schedule["body"]), timeout=60)
    assert (scheduled.status_code, scheduled.json()["data"]["status"]) == (200, "Scheduled"), scheduled.text
    at_once = api.post(f"{base}/broadcasts", json=body | {"scheduled_at": None, "schedule": True}, timeout=60)
    sent = f"{base}/broadcasts/{at_once.json()['data']['id']}"

    def read() -> bool:
        counts = api.get(sent, timeout=60).json()["data"]["counts"]
        return bool(counts["read"] == sum(counts.values()) >= 3)

    until(read, what="everybody to have read the broadcast", every=2.0)  # 60 calls a minute are allowed


def test_it_becomes_ready_survives_kill_9_and_remembers_its_keys(
    state: Path, migrated_dump: Path | None, small_system: SmallSystem
) -> None:
    """One story on one state: whole systems take long to start, and longest on an empty database.

    That one ends when it is asked to is seen where the demonstration's does. That the preparation migrates
    (`test_prepare`), and that the death of one process ends all (`test_runner`), needs no whole system.
    """
    if migrated_dump:
        make_cluster(state, migrated_dump)
    with running_system(state) as system:
        assert set(system.pids) == {
            *("postgres", "valkey", "web", "worker", "mail", "housekeeping", "dispatcher", "sender", "calls", "beat"),
            *("sandbox", "stripe"),
        }
        assert read(system, "/healthz")["instance"] == system.env["INSTANCE_ID"]
        assert read(system, "/readyz")["status"] == "ready"
        assert is_verified_by_the_sandbox(system)
        answer_somebody_and_see_it_read(system)
        send_the_first_broadcast_of_the_page(system)
        secrets = secrets_of(system)
        assert all(secrets)
        assert stat.S_IMODE((state / "bootstrap.json").stat().st_mode) == 0o600
        everything = [*system.pids.values(), *(child for pid in system.pids.values() for child in children_of(pid))]
        os.kill(system.runner.pid, signal.SIGKILL)
        assert all_gone(everything)
    with small_system("--is-prepared") as system:
        assert "Applying" not in system.log.read_text()
        assert secrets_of(system) == secrets
