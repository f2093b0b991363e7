"""`python -m benchmarks [name …]`: run all benchmarks or the named ones; the status is 1 only for a fault."""

import json
import os
import platform
import sys
from collections.abc import Sequence
from importlib import import_module

from benchmarks.figures import Figure, table
from benchmarks.servers import bench
from tools.local import STATE
from tools.local.state import read_json

RESULTS = "bench.json"
# Each module has a TITLE and a `run(bench)` that gives figures. They are imported late, because they need the settings.
BENCHMARKS = {
    "api-cost": "benchmarks.api.cost",
    "automations": "benchmarks.automations.engine",
    "automations-scale": "benchmarks.automations.scale",
    "availability": "benchmarks.availability",
    "big-list": "benchmarks.api.big_list",
    "claims": "benchmarks.dispatcher.claims",
    "conversations": "benchmarks.conversations.inbound",
    "crowding": "benchmarks.dispatcher.crowding",
    "web-slow-senders": "benchmarks.web.slow_senders",
    "web-event-streams": "benchmarks.web.event_streams",
    "web-silence": "benchmarks.web.silence",
    "web-restart": "benchmarks.web.restart",
    "event-latency": "benchmarks.dispatcher.event_latency",
    "held-snapshot": "benchmarks.dispatcher.held_snapshot",
    "isolation": "benchmarks.dispatcher.isolation",
    "inbox": "benchmarks.inbox.reading",
    "inbox-door": "benchmarks.inbox.door",
    "release": "benchmarks.dispatcher.release",
    "delivery": "benchmarks.dispatcher.throughput",
    "sending": "benchmarks.sending.throughput",
    "broadcast-statuses": "benchmarks.broadcasts.statuses",
    "broadcast-sending": "benchmarks.broadcasts.sending",
    "broadcast-fairness": "benchmarks.broadcasts.fairness",
    "broadcast-held-snapshot": "benchmarks.broadcasts.held_snapshot",
    "parallel-creates": "benchmarks.api.parallel_creates",
    "console-pages": "benchmarks.pages.console",
    "contact-import": "benchmarks.contacts.importing",
    "contact-segments": "benchmarks.contacts.segments",
    "growth": "benchmarks.growth",
    "keywords": "benchmarks.keywords",
    "broadcast-progress": "benchmarks.broadcasts.progress",
    "broadcast-preparation": "benchmarks.broadcasts.preparation",
    "tracked-links": "benchmarks.broadcasts.tracked_links",
    "retention": "benchmarks.retention",
    "rest": "benchmarks.rest",
}


def main(names: Sequence[str]) -> int:
    unknown = set(names) - set(BENCHMARKS)
    if unknown:
        print(f"There are: {', '.join(BENCHMARKS)}.", file=sys.stderr)
        return 2
    found: dict[str, list[Figure]] = {}
    print(f"{os.cpu_count()} cores, Python {platform.python_version()}; read the ratios, not the milliseconds.\n")
    with bench() as running:
        for name in names or BENCHMARKS:
            module = import_module(BENCHMARKS[name])
            found[name] = module.run(running)
            print(table(module.TITLE, found[name]), flush=True)
    _keep(found)
    return 0


def _keep(found: dict[str, list[Figure]]) -> None:
    """Save the figures, and keep those of benchmarks that did not run this time."""
    STATE.mkdir(mode=0o700, exist_ok=True)
    before = read_json(STATE / RESULTS).get("benchmarks", {})
    results = {
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "benchmarks": before | {name: [one.as_json() for one in figures] for name, figures in found.items()},
    }
    (STATE / RESULTS).write_text(json.dumps(results, indent=1, ensure_ascii=False))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
