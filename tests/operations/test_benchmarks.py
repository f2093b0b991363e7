"""The harness of `make bench`: what it promises about its figures, not the figures."""

import gc
import signal
import time
from functools import partial
from pathlib import Path

import pytest
import requests

from benchmarks.__main__ import main
from benchmarks.figures import Figure, table
from benchmarks.processes import Broken, fast_receiver, receiver
from benchmarks.receivers.certificates import certificate
from benchmarks.rounds import interleave, median_ratio, percentile

pytestmark = pytest.mark.slow


def test_an_unknown_name_is_refused_with_the_known_ones(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["no-such"]) == 2
    assert "api-cost, automations, automations-scale, availability, big-list, " in capsys.readouterr().err


def test_each_round_measures_every_variant_and_the_first_only_warms_up() -> None:
    """Little is left for the harness to search for garbage, which it does before each measurement."""
    gc.freeze()
    calls: list[str] = []

    def measure(name: str) -> int:
        calls.append(name)
        return len(calls)

    found = interleave({name: partial(measure, name) for name in "abc"}, rounds=3)
    assert [len(values) for values in found.values()] == [3, 3, 3]
    assert "".join(calls) == "abc" + "bca" + "cab" + "abc"
    assert min(value for values in found.values() for value in values) > 3


def test_a_ratio_is_the_median_of_the_rounds_own_ratios() -> None:
    assert median_ratio([2.0, 30.0, 2.0], [1.0, 10.0, 4.0]) == 2.0
    assert percentile(range(100), 0.99) == 99
    assert percentile([5.0], 0.5) == 5.0


def test_the_table_says_what_is_wanted_and_whether_it_holds() -> None:
    figures = [
        Figure(name="good", measured=0.5, unit="", at_most=1),
        Figure(name="bad", measured=12, unit="%", at_most=10),
        Figure(name="plain", measured=1234.5, unit="ms", ratio=2),
    ]
    lines = table("Title", figures).splitlines()
    assert "holds: at most 1" in lines[1]
    assert "DOES NOT HOLD: at most 10 %" in lines[2]
    assert ("holds" in lines[3].lower(), "1,234 ms" in lines[3], "2.00 x" in lines[3]) == (False, True, True)
    assert [figure.as_json()["holds"] for figure in figures] == [True, False, None]


def test_the_receiver_records_each_delivery_with_the_clock_that_all_processes_share() -> None:
    with receiver() as received:
        before = time.monotonic_ns()
        for identity in ("a1", "b2"):
            answer = requests.post(
                f"{received.origin}/events", data=b"{}", headers={"X-Svc-Delivery": identity}, timeout=60
            )
            assert answer.status_code == 204
        received.wait_for({"a1", "b2"})
        assert before < received.at["a1"] < received.at["b2"] < time.monotonic_ns()


def test_the_receiver_leaves_those_without_an_answer_that_ask_at_the_hanging_path_until_it_may_go_on() -> None:
    with receiver() as received:
        received.signal(signal.SIGUSR1)
        while True:
            try:
                requests.post(f"{received.origin}/hang/1", data=b"{}", timeout=0.2)
            except requests.Timeout:
                break
        assert requests.post(f"{received.origin}/healthy/1", data=b"{}", timeout=60).status_code == 204
        received.signal(signal.SIGUSR2)
        assert requests.post(f"{received.origin}/healthy/1", data=b"{}", timeout=60).status_code == 204


def test_the_fast_receiver_answers_at_every_address() -> None:
    with fast_receiver(3) as origins, requests.Session() as session:
        assert [origin.split(":")[1] for origin in origins] == ["//127.0.0.1", "//127.0.0.2", "//127.0.0.3"]
        for origin in origins * 2:
            assert session.post(f"{origin}/1", data=b"{}", timeout=60).status_code == 204


def test_the_fast_receiver_speaks_tls_with_a_certificate_that_is_checked(tmp_path: Path) -> None:
    authority, own = certificate(tmp_path)
    with fast_receiver(1, own) as [origin]:
        assert requests.post(f"{origin}/1", data=b"{}", verify=str(authority), timeout=60).status_code == 204
        with pytest.raises(requests.exceptions.SSLError):
            requests.post(f"{origin}/1", data=b"{}", timeout=60)


def test_what_does_not_arrive_breaks_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.processes.PATIENCE_SECONDS", 0.05)
    with receiver() as received, pytest.raises(Broken, match="1 of 1 events did not arrive"):
        received.wait_for({"never"})
