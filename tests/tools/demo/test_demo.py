"""The demonstration against a system that really runs."""

import os
import re
import signal
import threading
from typing import Any

import psycopg
import pytest
import requests

from tests.tools.system import RunningSystem
from tests.waiting import until
from tools.demo.__main__ import main
from tools.demo.bookings import BookingStory, Figures

pytestmark = [pytest.mark.slow, pytest.mark.slow]


class Demo:
    """Runs the demonstration and keeps what it printed."""

    def __init__(self, system: RunningSystem, capsys: pytest.CaptureFixture[str]) -> None:
        self.system, self.capsys = system, capsys

    def run(self, *arguments: str) -> tuple[int, str]:
        status = main(["--base-url", self.system.url, "--key", self.system.bootstrap["agency_key"], *arguments])
        printed = self.capsys.readouterr()
        return status, printed.out + printed.err


@pytest.fixture
def demo(live_system: RunningSystem, capsys: pytest.CaptureFixture[str]) -> Demo:
    return Demo(live_system, capsys)


def send(system: RunningSystem, child: str, number: signal.Signals) -> None:
    """Send a signal to one of the system's processes and to those that it has started."""
    os.killpg(system.pids[child], number)


def written(database: psycopg.Connection[Any]) -> int:
    """How many events there are."""
    return int(database.execute("SELECT count(*) FROM agency_event").fetchall()[0][0])


def wait_for_events(database: psycopg.Connection[Any], number: int) -> None:
    until(lambda: written(database) >= number, what=f"{number} events")


def webhooks(system: RunningSystem) -> list[str]:
    headers = {"x-api-key": system.bootstrap["agency_key"]}
    answer = requests.get(f"{system.url}/api/agency/v1/webhooks", headers=headers, timeout=60)
    return [endpoint["url"] for endpoint in answer.json()["data"]]


def test_every_event_arrives_signed_and_the_webhook_is_removed(live_system: RunningSystem, demo: Demo) -> None:
    status, printed = demo.run("--sub-accounts", "2")
    assert status == 0, printed
    assert "12 of 12 events arrived, each signature verified" in printed
    assert printed.count("✓ signature") == 12
    assert len(re.findall(r"^\[ ?\d+/17\]", printed, re.MULTILINE)) == 17
    assert "\033[" not in printed
    assert webhooks(live_system) == []


def test_killing_the_dispatcher_and_the_web_process_in_the_middle_loses_nothing(
    live_system: RunningSystem, demo: Demo
) -> None:
    """The next one is killed when some more of what the demonstration does has been written down."""

    def kill() -> None:
        with psycopg.connect(live_system.env["DATABASE_URL"], autocommit=True) as database:
            begun = written(database)
            for number, child in enumerate(("dispatcher", "web", "dispatcher"), 1):
                wait_for_events(database, begun + 6 * number)
                send(live_system, child, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    status, printed = demo.run("--sub-accounts", "4", "--pause", "0.05")
    killer.join()
    assert status == 0, printed
    assert "24 of 24 events arrived, each signature verified" in printed
    assert webhooks(live_system) == []


def test_events_that_do_not_arrive_are_named(live_system: RunningSystem, demo: Demo) -> None:
    send(live_system, "dispatcher", signal.SIGSTOP)
    try:
        status, printed = demo.run("--sub-accounts", "1", "--pause", "0", "--wait", "0.5")
    finally:
        send(live_system, "dispatcher", signal.SIGCONT)
    assert status == 1
    assert "addon.revoked of Harbour Bakery & Co did not arrive" in printed


def test_one_client_gets_a_raced_time_and_the_books_are_compared(
    live_system: RunningSystem, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The figures of the story are right. A refund of which the product hears nothing then makes the books differ."""
    read, honest = BookingStory.figures, []

    def figures(story: BookingStory, invoices: list[str]) -> Figures:
        honest.append(read(story, invoices))
        intent = story.stripe.control("ledger")["intents"][-1]["id"]
        story.stripe.control("refund", payment_intent=intent, amount=1)
        return read(story, invoices)

    monkeypatch.setattr(BookingStory, "figures", figures)
    status = main(["--state", str(live_system.state), "--sub-accounts", "0"])
    printed = capsys.readouterr().out
    assert [found.problems for found in honest] == [[]], printed
    assert str(honest[0]).startswith("1 of 8 clients got the time they all wanted; 2 payments (134.00)")
    assert len(re.findall(r"^\[ ?\d+/11\]", printed, re.MULTILINE)) == 11
    assert status == 1
    assert "✗ the books have 2 payments (134.00) and 2 refunds (34.00), the payment provider's" in printed


def test_a_key_that_is_not_one_ends_it(live_system: RunningSystem, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--base-url", live_system.url, "--key", "svc_ag_nonsense"]) == 1
    assert "GET /plans: 401 Invalid API key." in capsys.readouterr().err
