"""The demonstration against a system that really runs."""

import io
import re
import signal
import threading
import time

import pytest
import requests
from django.core.management import CommandError, call_command

from tests.operations.conftest import LiveSystem

pytestmark = pytest.mark.slow


def tell(system: LiveSystem, *words: str) -> tuple[str, bool]:
    """Run the demonstration; gives what it printed and whether it ended well."""
    out = io.StringIO()
    try:
        call_command("demo", "--base-url", system.url, "--key", system.key, *words, stdout=out)
    except CommandError as error:
        return f"{out.getvalue()}{error}", False
    return out.getvalue(), True


def webhooks(system: LiveSystem) -> list[str]:
    answer = requests.get(f"{system.url}/api/agency/v1/webhooks", headers={"x-api-key": system.key}, timeout=10)
    return [endpoint["url"] for endpoint in answer.json()["data"]]


def test_every_event_arrives_signed_and_the_webhook_is_removed(live_system: LiveSystem) -> None:
    told, well = tell(live_system, "--sub-accounts", "2")
    assert well, told
    assert "12 of 12 events arrived, each signature verified" in told
    assert told.count("✓ signature") == 12
    assert len(re.findall(r"^\[ ?\d+/17\]", told, re.MULTILINE)) == 17
    assert "\033[" not in told
    assert webhooks(live_system) == []


def test_killing_the_dispatcher_and_the_web_process_in_the_middle_loses_nothing(live_system: LiveSystem) -> None:
    def kill() -> None:
        for child in ("dispatcher", "web", "dispatcher"):
            time.sleep(0.4)
            live_system.signal(child, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    told, well = tell(live_system, "--sub-accounts", "6", "--pause", "0.05")
    killer.join()
    assert well, told
    assert "36 of 36 events arrived, each signature verified" in told
    assert webhooks(live_system) == []


def test_events_that_do_not_arrive_are_named(live_system: LiveSystem) -> None:
    live_system.signal("dispatcher", signal.SIGSTOP)
    try:
        told, well = tell(live_system, "--sub-accounts", "1", "--pause", "0", "--wait", "0.5")
    finally:
        live_system.signal("dispatcher", signal.SIGCONT)
    assert not well
    assert "addon.revoked of Harbour Bakery & Co did not arrive" in told


def test_a_key_that_is_not_one_ends_the_story(live_system: LiveSystem) -> None:
    with pytest.raises(CommandError, match=r"GET /plans: 401 Invalid API key\."):
        call_command("demo", "--base-url", live_system.url, "--key", "svc_ag_nonsense")
