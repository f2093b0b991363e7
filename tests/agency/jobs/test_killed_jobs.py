"""A worker that is killed at every statement: each thing is done once, each count is right, each row stands once."""

import subprocess
import sys

import pytest
from django.test import Client

from agency.models import ActivityEntry, BulkOperation, Event, Mail
from tests.agency.jobs.asking import EXPORT, begin, choice, newest_export, outcome
from tests.factories import many_workspaces
from tests.processes.own_processes import variables
from tests.processes.preloaded import PRELOADED
from tests.tenants import Tenant
from tools.local import ROOT
from workspaces.subaccounts.models import Workspace

pytestmark = pytest.mark.django_db(transaction=True)
THINGS = 5


def test_nothing_is_lost_or_done_twice(a: Tenant, admin: Client) -> None:
    many_workspaces(a.agency, THINGS)
    Workspace.objects.of(a.agency).update(owner_pending_since=None)
    Mail.objects.all().delete()
    begun = [
        begin(admin, choice("sub_accounts.suspend"), reason=""),
        begin(admin, choice("sub_accounts.write"), text="Hi"),
    ]
    admin.post(EXPORT, {"kind": "sub-accounts", "format": "csv", "query": ""})
    done = subprocess.run(
        [sys.executable, *PRELOADED, "tests.agency.jobs.killed_working"],
        cwd=ROOT, env=variables(), capture_output=True, timeout=240,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()[-2_000:]
    assert int(done.stdout) > 30
    for operation in begun:
        operation = BulkOperation.objects.get(pk=operation.pk)
        assert outcome(operation) == ("completed", THINGS, THINGS, 0, 0)
    assert Event.objects.filter(name="workspace.suspended").count() == THINGS
    assert ActivityEntry.objects.filter(action="workspace.suspended").count() == THINGS
    assert Mail.objects.filter(kind="agency_message").count() == THINGS
    export = newest_export()
    lines = b"".join(bytes(part.content) for part in export.parts.order_by("number")).decode().splitlines()
    assert (export.state, export.rows, len(lines), len(set(lines))) == ("completed", THINGS, THINGS + 1, THINGS + 1)
