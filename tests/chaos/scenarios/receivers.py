"""Receivers that fail, hang and are slow."""

import threading

from tests.chaos.clients.client import CREATED
from tests.chaos.receiver.behaviour import Answer, Script, expected_attempts
from tests.chaos.scenarios.scenario import Scenario
from tests.chaos.workload import Workload

E, C, H, D, S, OK = Answer.ERROR, Answer.CLOSE, Answer.HANG, Answer.DRIP, Answer.SLOW, Answer.OK
QUICK_SCRIPTS: tuple[Script, ...] = ((E, OK), (C, OK), (S,))
SCRIPTS: tuple[Script, ...] = (*QUICK_SCRIPTS, (H, OK), (D, OK), (E, C, OK), (E, E, E), (C, H, E), (H, E, C))
ACCOUNTS = 6


def play(workload: Workload, scripts: tuple[Script, ...]) -> None:
    """Each endpoint of one agency fails in a way of its own, and gets few deliveries."""
    tenants = workload.tenants
    failing = tenants.add(((CREATED,),) * len(scripts), bulk=0)
    numbers = [one.number for one in workload.expectations.subscribers.values() if one.owner[1] == failing.agency.pk]
    workload.arrivals.behaviour.scripts.update(zip(numbers, scripts, strict=True))
    workload.remember_endpoints()
    [client] = tenants.clients(failing, 1, 6.0, workload.rng, threading.Event())
    for number in range(ACCOUNTS):
        client.create(f"Failing {failing.agency.pk} {number}")
        workload.rest(0.1)
    workload.wrong += client.wrong
    workload.injections.plan(["receiver that fails"] * (len(scripts) * ACCOUNTS))
    _await_first_attempts(workload, set(numbers))
    workload.patience = max(45.0, 100.0 * any(expected_attempts(script) > 2 for script in scripts))


def _await_first_attempts(workload: Workload, numbers: set[int]) -> None:
    """Each first attempt is a fault, as all of these scripts begin with one."""
    wanted = workload.injections.planned["receiver that fails"]
    found = 0
    for _ in range(300):
        found = sum(number in numbers for number, _ in workload.arrivals.found.copy())
        if found >= wanted:
            break
        workload.rest(0.2)
    for _ in range(found):
        workload.injections.count("receiver that fails")


def receivers(workload: Workload) -> None:
    play(workload, SCRIPTS)


def failing(workload: Workload) -> None:
    play(workload, QUICK_SCRIPTS)


RECEIVERS = {"receivers": Scenario(receivers, 260, odd=0.02, volume=100)}
