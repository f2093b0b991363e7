"""Compares the web server's CPU for a tracked link's redirect, with its recorded click, with that for a stylesheet."""

import http.client
import threading
import time
from collections.abc import Sequence
from functools import partial

from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.services import create_agency
from benchmarks.figures import Figure
from benchmarks.processes import Broken
from benchmarks.rounds import interleave, median_ratio, percentile
from benchmarks.servers import Bench
from benchmarks.web.client import cpu_seconds, server
from broadcasts.content import FrozenMessage
from broadcasts.models import Broadcast, Click, Recipient, Stage
from broadcasts.services.tracked_links import tracked_link
from workspaces.subaccounts.services import connect_channel, create_workspace

CLIENTS = 8
SECONDS = 3.0
ROUNDS = 3
RECIPIENTS = 500
BROWSER = {"User-Agent": "Mozilla/5.0 (Linux; Android 16) AppleWebKit/537.36 Chrome/140 Mobile Safari/537.36"}
LINKS = ("https://shop.example/sale", "https://shop.example/?for={{contact.name}}")
TITLE = (
    f"Tracked links: {CLIENTS} clients follow links of {RECIPIENTS} recipients, two processes with four threads each;\n"
    "the CPU is the web server's, so that 1 ms is 1,000 redirects a second on one core."
)
Paths = Sequence[str]


def run(_: Bench) -> list[Figure]:
    fixed, named = _links()
    with server() as port:
        cases = {
            "stylesheet": partial(_milliseconds, port, ["/brand/0a0b0c.css"], 200),
            "fixed": partial(_milliseconds, port, fixed, 302),
            "named": partial(_milliseconds, port, named, 302),
        }
        found = interleave(cases, rounds=ROUNDS)
    if not Click.objects.exists():
        raise Broken("No click was recorded.")
    return [
        Figure(name="CPU of an answer without a database", measured=percentile(found["stylesheet"], 0.5), unit="ms"),
        Figure(
            name="CPU of a redirect, its click recorded",
            measured=percentile(found["fixed"], 0.5),
            unit="ms",
            ratio=median_ratio(found["fixed"], found["stylesheet"]),
            at_most=1.0,
        ),
        Figure(
            name="CPU of one whose address has variables",
            measured=percentile(found["named"], 0.5),
            unit="ms",
            ratio=median_ratio(found["named"], found["stylesheet"]),
            at_most=1.25,
        ),
    ]


def _links() -> tuple[Paths, Paths]:
    """Make a sent broadcast; give its links to an address without variables, and to one with variables."""
    agency = create_agency(name="Links", by=SYSTEM)
    workspace = create_workspace(
        agency=agency, name="Links", owner_name="Owner", owner_email="owner@links.example", now=now(), by=SYSTEM
    )
    channel = connect_channel(
        workspace=workspace,
        platform="whatsapp",
        external_id="links",
        name="Links",
        handle="+4930000000",
        now=now(),
        by=SYSTEM,
    )
    broadcast = Broadcast.objects.create(
        workspace=workspace,
        channel=channel,
        name="Links",
        status=Broadcast.Status.SENDING,
        message={"text": ""},
        created_by_kind="system",
        created_by_label="",
        started_at=now(),
        last_contact=RECIPIENTS,
        frozen=FrozenMessage(variables=["contact.name"], links=LINKS).as_json(),
    )
    Recipient.objects.bulk_create(
        Recipient(
            broadcast_id=broadcast.pk,
            contact_id=number,
            due_at=now(),
            created_at=now(),
            stage=Stage.DONE,
            status=Recipient.Status.SENT,
            values=[f"Contact {number}"],
        )
        for number in range(1, RECIPIENTS + 1)
    )
    fixed, named = (
        [tracked_link("", broadcast.pk, contact, number) for contact in range(1, RECIPIENTS + 1)] for number in (0, 1)
    )
    return fixed, named


def _milliseconds(port: int, paths: Paths, status: int) -> float:
    """Request paths over kept connections for a while; give the server's CPU for each answer."""
    done = [0] * CLIENTS
    until, before = time.monotonic() + SECONDS, cpu_seconds(port)

    def work(place: int) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        number = place
        while time.monotonic() < until:
            connection.request("GET", paths[number % len(paths)], headers=BROWSER)
            answer = connection.getresponse()
            answer.read()
            if answer.status != status:
                return
            number += CLIENTS
            done[place] += 1
        connection.close()

    threads = [threading.Thread(target=work, args=(place,)) for place in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if not all(done):
        raise Broken(f"An answer was not {status}.")
    return (cpu_seconds(port) - before) / sum(done) * 1000
