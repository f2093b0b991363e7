"""Broadcasts, senders and their log on a clock that is moved."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from broadcasts.models import Recipient, Stage
from channelconnect.models import MessageTemplate, SenderRun
from tests.broadcasts.making import PARAMETERS
from tests.channelconnect.sending.messages import BUSINESS
from tests.clocks.moved import MovedClock
from tests.processes import own_processes
from tests.tenants import Tenant
from tests.waiting import until
from tools.local.runner.plan import ALONE, CELERY, Worker
from tools.sandbox import RunningSandbox
from workspaces.contacts.models import Contact
from workspaces.conversations.models import QueuedMessage
from workspaces.subaccounts.models import Channel

MESSAGE: Final[dict[str, Any]] = {
    "template": "order_ready",
    "language": "en_US",
    "components": [{"type": "body", "parameters": [{"type": "text", "text": "A-17"}]}],
}


class Sent(NamedTuple):
    """A message that the provider took, at which moment of the moved clock."""

    account: str
    to: str
    at: datetime


def sent_by(sandbox: RunningSandbox) -> list[Sent]:
    """Give the provider's own log, the first one first."""
    return [Sent(one["account"], one["to"], datetime.fromtimestamp(one["at"], UTC)) for one in sandbox.ledger()["sent"]]


def start_sending(clock: MovedClock, sandbox: RunningSandbox, *, senders: int = 1) -> None:
    """Start what a broadcast needs: senders. The first one also begins and prepares it, in a process of its own."""
    first = Worker("sender-0", ("sender", "broadcasts"), 2)
    clock.start((*CELERY, *first.arguments(), *ALONE), sandbox.variables)
    for number in range(1, senders):
        clock.start(own_processes.celery_arguments("sender", number=number), sandbox.variables)


def wait_until_all_are_at_work(a: Tenant, channel: Channel, phone: str, *, senders: int = 1) -> None:
    """Wait for the senders, and for whoever begins broadcasts: until one to a single contact is through."""
    until(lambda: SenderRun.objects.filter(lost_at=None).count() == senders, what="the senders")
    contact = Contact.objects.get(workspace=a.workspace, phone=phone)
    made = schedule(a, channel, audience={"type": "contacts", "contacts": [str(contact.uuid)]})
    path = f"/broadcasts/{made['id']}"
    # A key may not ask as often as that of the database.
    until(lambda: ask(a, path)["status"] == "sent", what="the first broadcast", every=0.5)


def schedule(a: Tenant, channel: Channel, **fields: Any) -> dict[str, Any]:
    """Schedule a broadcast to everybody, at once unless said otherwise."""
    body = {
        "name": "Good morning",
        "channel": str(channel.uuid),
        "audience": {"type": "segment", "segment": "all"},
        "message": MESSAGE,
        "schedule": True,
    }
    made: dict[str, Any] = ask(a, "/broadcasts", body | fields, status=201)
    return made


def approve_template() -> None:
    """Have the numbers' business account the template that all of this is sent with."""
    MessageTemplate.objects.create(
        container_id=BUSINESS,
        name=MESSAGE["template"],
        language=MESSAGE["language"],
        category="marketing",
        status="approved",
        components=[{"type": "BODY", "text": "Hello {{1}}"}],
        parameters=[PARAMETERS["body"]],
    )


def import_contacts(a: Tenant, contacts: Iterable[dict[str, Any]]) -> None:
    """Have all of these contacts made by one call of the API."""
    wanted = list(contacts)
    made = ask(a, "/contacts/import", {"contacts": wanted})
    assert (made["created"], made["errors"]) == (len(wanted), [])


def ask(a: Tenant, path: str, body: Any = None, *, status: int = 200) -> Any:
    """Call the workspace's API, with a body by POST; gives the answer's data."""
    answer = a.workspace_api.get(path) if body is None else a.workspace_api.post(path, body)
    assert answer.status_code == status, answer.content
    return answer.json()["data"]


def is_idle() -> bool:
    """Whether no message is claimed by anybody."""
    return not (
        Recipient.objects.filter(stage=Stage.CLAIMED).exists()
        or QueuedMessage.objects.filter(run__isnull=False).exists()
    )
