"""A worker that is killed at every statement: each thing is done once, each count is right, each row stands once."""

from collections.abc import Callable

import pytest
from django.test import Client

from agency.models import ActivityEntry, BulkOperation, Event, Mail
from tests.agency.jobs.asking import EXPORT, begin, choice, newest_export, outcome
from tests.factories import many_workspaces
from tests.processes.preloaded import Order, Preloaded
from tests.sizes import FULL_SIZE, size
from tests.tenants import Tenant
from workspaces.subaccounts.models import Workspace

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]
THINGS = size("kills", "things")
LEAST_KILLS = 30 if FULL_SIZE else 8


def test_nothing_is_lost_or_done_twice(
    a: Tenant, admin: Client, preloaded: Preloaded, record_property: Callable[[str, object], None]
) -> None:
    many_workspaces(a.agency, THINGS)
    Workspace.objects.of(a.agency).update(owner_pending_since=None)
    Mail.objects.all().delete()
    begun = [
        begin(admin, choice("sub_accounts.suspend"), reason=""),
        begin(admin, choice("sub_accounts.write"), text="Hi"),
    ]
    admin.post(EXPORT, {"kind": "sub-accounts", "format": "csv", "query": ""})
    kills = int(preloaded.run(Order("tests.agency.jobs.killed_working")))
    record_property("kills", kills)
    assert kills > LEAST_KILLS
    for operation in begun:
        operation = BulkOperation.objects.get(pk=operation.pk)
        assert outcome(operation) == ("completed", THINGS, THINGS, 0, 0)
    assert Event.objects.filter(name="workspace.suspended").count() == THINGS
    assert ActivityEntry.objects.filter(action="workspace.suspended").count() == THINGS
    assert Mail.objects.filter(kind="agency_message").count() == THINGS
    export = newest_export()
    lines = b"".join(bytes(part.content) for part in export.parts.order_by("number")).decode().splitlines()
    assert (export.state, export.rows, len(lines), len(set(lines))) == ("completed", THINGS, THINGS + 1, THINGS + 1)
