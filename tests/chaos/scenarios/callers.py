"""What callers and tenants do to each other: bodies half sent, mail that hangs, fan-out without end."""

from collections.abc import Mapping
from contextlib import ExitStack

from tests.chaos.expectations import Key
from tests.chaos.faults import tenants, web
from tests.chaos.faults.mail import MailServer
from tests.chaos.outcome import Limits
from tests.chaos.receiver.sink import Sink
from tests.chaos.scenarios.scenario import Scenario
from tests.chaos.workload import Workload
from tools.local.runner.web import get

MAIL_SECONDS = 45
READY_LOOKS = 8


def half_bodies(workload: Workload, *, count: int = 64, seconds: int = 12) -> None:
    """Requests whose bodies never come whole; the calls of others go on."""
    with web.half_bodies(workload, count) as held:
        for _ in range(seconds):
            workload.rest(1)
            web.drip(held)
            if get(workload.system.port, "/healthz")[0] != 200:
                workload.wrong.append("/healthz gave no answer")
    workload.rest(1)


def poison(workload: Workload, *, endpoints: int = 2_500, events: int = 400, seconds: int = 30) -> None:
    """An agency with very many endpoints and events; the deliveries and tests of others go on."""
    sink = workload.stack.enter_context(Sink())
    tenants.poison(workload, sink, endpoints=endpoints, events=events)
    for _ in range(seconds // 3):
        workload.rest(3)
        send_test(workload)
    workload.notes.append(f"{sink.count:,} of {endpoints * events:,} deliveries of the poisoned agency")


def send_test(workload: Workload) -> None:
    """Send a test to an agency's endpoint over the API, and expect it there."""
    tenant = workload.rng.choice(workload.tenants.agencies)
    own = [
        one
        for one in workload.expectations.subscribers.values()
        if one.uuid and one.owner == ("agency_id", tenant.agency.pk)
    ]
    chosen = workload.rng.choice(own)
    tenant.api.close()  # it was idle for long
    status, found, _ = tenant.api.call("POST", f"/webhooks/{chosen.uuid}/test", {})
    if status == 202:
        workload.expectations.tell_at_endpoint(Key("test", found["envelope_id"]), chosen.number)
    else:
        workload.wrong.append(f"a test was answered with {status}")


def hanging_mail(workload: Workload, server: MailServer, *, seconds: int = MAIL_SECONDS) -> None:
    """An SMTP server that says nothing; the web stays ready, and mail leaves when it speaks again."""
    workload.injections.plan(["hanging SMTP"])
    unready = 0
    for _ in range(seconds):
        workload.rest(1)
        unready += get(workload.system.port, "/readyz")[0] != 200
    workload.injections.count("hanging SMTP", happened=server.held > 0)
    if unready:
        workload.wrong.append(f"not ready for {unready} of {seconds} s for the sake of mail")
    server.hangs.clear()
    server.ending.set()
    for _ in range(60):
        if server.received:
            break
        workload.rest(1)
    else:
        workload.wrong.append("no mail came when the SMTP server was back")
    workload.notes.append(f"{server.held} connections held, {server.received.total()} mails")


_mail_servers: dict[str, MailServer] = {}


def prepare_mail(workload: Workload, stack: ExitStack) -> Mapping[str, str]:
    server = stack.enter_context(MailServer())
    server.hangs.set()
    _mail_servers[workload.system.name] = server
    return {"EMAIL_HOST": "127.0.0.1", "EMAIL_PORT": str(server.port), "EMAIL_USE_TLS": "false"}


def look_at_mail(workload: Workload) -> None:
    """While an SMTP server hangs the web is ready: on a busy machine not at once, but before mail gives up."""
    server = _mail_servers.pop(workload.system.name)
    workload.injections.plan(["hanging SMTP"])
    workload.injections.count("hanging SMTP", happened=server.held > 0)
    for _ in range(READY_LOOKS):
        status, body = get(workload.system.port, "/readyz")
        if status == 200:
            break
        workload.rest(1)
    else:
        workload.wrong.append(f"not ready while mail hangs: {status} {body.decode(errors='replace')}")
    server.hangs.clear()
    server.ending.set()


def mail(workload: Workload) -> None:
    hanging_mail(workload, _mail_servers.pop(workload.system.name))


def bodies(workload: Workload) -> None:
    workload.injections.plan(["half bodies held"])
    half_bodies(workload)
    workload.rest(1)


def poisoned(workload: Workload) -> None:
    workload.injections.plan(["poisoned fan-out"])
    poison(workload)


CALLERS = {
    "bodies": Scenario(bodies, 120, limits=Limits(call=5.0)),
    "mail": Scenario(mail, 220, prepare=prepare_mail, volume=100),
    "poison": Scenario(poisoned, 240, volume=100, limits=Limits(wait=10.0)),
}
