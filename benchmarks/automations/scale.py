"""Measures automations at full size: a thousand workspaces, millions of waiting runs, and several engines at once."""

import hashlib
import hmac
import http.client
import json
import os
import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from django.db import connection

from benchmarks.automations.engine import engine_seconds, idle_turn, received_seconds
from benchmarks.automations.rows import automations, keyword, replace_texts_by_keywords, waiting_runs
from benchmarks.conversations.facts import messages, person
from benchmarks.figures import Figure
from benchmarks.processes import Broken, started
from benchmarks.servers import Bench
from benchmarks.web.client import server
from workspaces.automations.engine.loop import Engine
from workspaces.automations.models import AutomationRun, TriggerEvent
from workspaces.conversations.facts import ChannelReference
from workspaces.subaccounts.models import Channel

TITLE = (
    "Automations at full size: 1,000 workspaces with 200 automations each, 2,000,000 runs that wait, and messages\n"
    "that come in over HTTP while two engines work. Time of processors, of all processes that take part. Wanted on\n"
    "two cores: 10,000 messages a second, which is 200 µs each."
)
# Each contact writes one message.
WORKSPACES, EACH, PEOPLE, MESSAGES, WAITING = 1_000, 200, 20, 20_000, 2_000_000
ENGINES, CLIENTS, TOGETHER, POSTED = 2, 4, 10, 10_000
PATH = "/connect/provider-events"
SECRET = "a secret of the benchmark's"  # noqa: S105  # of a server that ends with the run
PATIENCE_SECONDS = 120.0


def run(running: Bench) -> list[Figure]:
    of = automations(each=EACH, workspaces=WORKSPACES)
    engine = Engine()
    received_seconds(messages(of, "warm", MESSAGES, people=PEOPLE))
    before = _memory()
    first = engine_seconds(engine) / MESSAGES
    memory = _memory() - before
    unanswered = _round(of, "none", engine, is_answered=False)
    answered = _round(of, "hits", engine, is_answered=True)
    waiting_runs(of[0], WAITING)
    beside = _round(of, "beside", engine, is_answered=True)
    turn = idle_turn()
    return [
        _figure("a fact that starts nothing, by a new engine", first),
        Figure(name="memory for the triggers of all workspaces", measured=memory / 2**20, unit="MiB"),
        _figure("a fact that starts nothing, decided", unanswered[1]),
        _figure("a fact that starts a run, answered", answered[1]),
        _figure("the whole way of an answered message", sum(answered)),
        _figure(f"the whole way, beside {WAITING:,} waiting runs", sum(beside), base=sum(answered)),
        Figure(name=f"a turn without work, beside {WAITING:,}", measured=turn * 1e3, unit="ms", at_most=10),
        *_over_http(running, of),
    ]


def _figure(name: str, seconds: float, base: float | None = None) -> Figure:
    ratio = None if base is None else seconds / base
    return Figure(
        name=name, measured=seconds * 1e6, unit="µs", ratio=ratio, note=f"{1 / seconds:,.0f} a second and core"
    )


def _round(of: Sequence[ChannelReference], name: str, engine: Engine, *, is_answered: bool) -> tuple[float, float]:
    """Receive messages and let the engine work; give the processor seconds of both for each message."""
    _forget_caps()
    texts = messages(of, name, MESSAGES, people=PEOPLE)
    received = received_seconds(replace_texts_by_keywords(texts, EACH) if is_answered else texts)
    return received, engine_seconds(engine) / MESSAGES


def _forget_caps() -> None:
    """Let contacts get the same answer again."""
    with connection.cursor() as cursor:
        cursor.execute("UPDATE automations_contactqueue SET day_count = 0, last_text_count = 0 WHERE day_count > 0")
        cursor.execute("VACUUM ANALYZE automations_contactqueue, conversations_conversation, contacts_contact")


def _memory() -> int:
    """Give the resident memory of this process, in bytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


# Over HTTP -----------------------------------------------------------------------------------------------


def _over_http(running: Bench, of: Sequence[ChannelReference]) -> list[Figure]:
    """Post callbacks to the web server while a reader and engines work; give the processor time by process.

    The same people write twice; the second time counts.
    """
    _forget_caps()
    numbers = [Channel.objects.get(pk=one.id).external_id for one in of[:100]]
    facts, runs = TriggerEvent.objects.count(), AutomationRun.objects.count()
    with ExitStack() as stack:
        port = stack.enter_context(server(META_APP_SECRET=SECRET))
        reader = stack.enter_context(started("benchmarks.inbox.reader"))
        engines = [stack.enter_context(started("benchmarks.automations.worker")) for _ in range(ENGINES)]
        roots = {
            "reader": [reader.pid],
            "engines": [one.pid for one in engines],
            "database": [running.pids["postgres"]],
        }
        _post(port, numbers, POSTED, "warm")
        _wait(facts + POSTED)
        before = {name: _seconds(pids) for name, pids in roots.items()}
        began = time.monotonic()
        _post(port, numbers, POSTED, "http")
        _wait(facts + 2 * POSTED)
        took = time.monotonic() - began
        spent = {name: (_seconds(pids) - before[name]) / POSTED for name, pids in roots.items()}
    answered = (AutomationRun.objects.count() - runs) / (2 * POSTED)
    whole = sum(spent.values())
    note = f"{answered:.0%} answered, {1 / whole:,.0f} a second and core, {POSTED / took:,.0f} a second in this round"
    return [
        *(Figure(name=f"over HTTP: {name}", measured=seconds * 1e6, unit="µs") for name, seconds in spent.items()),
        Figure(name="over HTTP, behind the web server", measured=whole * 1e6, unit="µs", note=note),
    ]


def _post(port: int, numbers: Sequence[str], count: int, run: str) -> None:
    """Post so many messages over a few connections, several in a body."""

    def post(client: int) -> None:
        caller = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        for at in range(client, count // TOGETHER, CLIENTS):
            content = _body(numbers[at % len(numbers)], range(at * TOGETHER, (at + 1) * TOGETHER), run)
            proof = hmac.new(SECRET.encode(), content, hashlib.sha256).hexdigest()
            headers = {"X-Hub-Signature-256": f"sha256={proof}", "Content-Type": "application/json"}
            caller.request("POST", PATH, content, headers)
            caller.getresponse().read()
        caller.close()

    threads = [threading.Thread(target=post, args=(client,)) for client in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _body(number: str, which: range, run: str) -> bytes:
    """Write a callback of WhatsApp with a message for each number in `which`, each of another person."""
    people = {one: person(10**7 + one).external_id for one in which}
    value = {
        "messaging_product": "whatsapp",
        "metadata": {"display_phone_number": "493012345", "phone_number_id": number},
        "contacts": [{"profile": {"name": f"Guest {one}"}, "wa_id": who} for one, who in people.items()],
        "messages": [
            {
                "from": who,
                "id": f"wamid.{run}{one:08}",
                "timestamp": str(int(time.time())),
                "type": "text",
                "text": {"body": f"Hello, {keyword(one, EACH)} please?"},
            }
            for one, who in people.items()
        ],
    }
    entry = {"id": "2001", "time": int(time.time()), "changes": [{"field": "messages", "value": value}]}
    return json.dumps({"object": "whatsapp_business_account", "entry": [entry]}).encode()


def _wait(facts: int) -> None:
    """Wait until so many facts are there and all are decided."""
    until = time.monotonic() + PATIENCE_SECONDS
    while TriggerEvent.objects.count() < facts or TriggerEvent.objects.filter(outcome=None).exists():
        if time.monotonic() > until:
            raise Broken(f"{TriggerEvent.objects.count()} of {facts} facts came in.")
        time.sleep(0.2)


def _seconds(roots: Sequence[int]) -> float:
    """Give the processor seconds of processes with all that they have started."""
    stats = {int(path.parent.name): _stat(path) for path in Path("/proc").glob("[0-9]*/stat")}
    found = set(roots)
    while more := {pid for pid, fields in stats.items() if fields and int(fields[1]) in found} - found:
        found |= more
    ticks = sum(int(one) for pid in found for one in stats.get(pid, [])[11:13])
    ended = sum(int(one) for pid in roots for one in stats.get(pid, [])[13:15])
    return (ticks + ended) / os.sysconf("SC_CLK_TCK")


def _stat(path: Path) -> list[str]:
    """Read the fields of a process from its state on, or nothing if it has just ended."""
    try:
        return path.read_text().rpartition(")")[2].split()
    except OSError:
        return []
