"""Exports: what a list shows as a file, written as a job, kept for a week, fetched by the agency's own staff alone."""

import csv
import json
from datetime import timedelta
from io import StringIO
from random import Random
from typing import Any

import pytest
from django.test import Client
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import ActivityEntry, Export, ExportPart, Member
from agency.services.exports import csv_row, escape_formula, json_line, unescape_formula, write_next_part
from agency.services.retention import forget_exports
from agency.tasks import run_jobs
from tests.agency.console.browsers import at_the_console, flashes, text
from tests.agency.jobs.asking import EXPORT, exported, newest_export
from tests.broadcasts.under_way import a_broadcast
from tests.factories import WorkspaceFactory, many_workspaces
from tests.factories.webhooks import a_failed_delivery, an_endpoint
from tests.tenants import Tenant
from webhooks.models import Delivery
from workspaces.subaccounts.services import suspend_workspace

pytestmark = pytest.mark.django_db
RECEIVER = "https://93.184.215.14/hooks"
FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx", "\uff1d1", "\uff0b1", "\uff0d1", "\uff20SUM(A1)", " =1"]
# How each is written, so that it is no formula either where a program splits lines at another character.
WITHIN = {
    "Ada;=1+1;@SUM(1)": "Ada;'=1+1;'@SUM(1)",
    "Ada,-1": "Ada,'-1",
    "Ada, +1": "Ada, '+1",
    "Ada\t=1": "Ada\t'=1",
    "Ada\r\n=1\n\uff1d1": "Ada\r\n'=1\n'\uff1d1",
    "Ada|=1": "Ada|'=1",
    ";\t=1": ";'\t'=1",
    "'=1": "''=1",
    "Ada = -1 + 2": "Ada = -1 + 2",
    "O'Hara; 'n' x": "O'Hara; 'n' x",
}


def table(content: str) -> list[dict[str, str]]:
    return list(csv.DictReader(StringIO(content, newline="")))


def lines(content: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in content.splitlines()]


def start(browser: Client, kind: str = "sub-accounts", **fields: str) -> Export:
    answer = browser.post(EXPORT, {"kind": kind, "format": "csv", "query": "", **fields})
    assert answer.status_code == 302
    return newest_export()


def test_sub_accounts_as_their_list_shows_them(a: Tenant, b: Tenant, admin: Client) -> None:
    assert b.workspace.agency != a.workspace.agency
    idle = WorkspaceFactory.create(agency=a.agency, name='Idle, "new"', plan=a.plan)
    suspend_workspace(workspace=idle, now=now(), by=SYSTEM)
    rows = table(exported(admin, "sub-accounts"))
    assert [row["name"] for row in rows] == ['Idle, "new"', a.workspace.name]
    assert (rows[0]["status"], rows[0]["plan"], rows[1]["suspended_at"]) == ("suspended", a.plan.name, "")
    [row] = lines(exported(admin, "sub-accounts", query="status=suspended&page=2", file_format="jsonl"))
    assert (row["uuid"], row["owner_email"]) == (str(idle.uuid), idle.owner_email)
    assert row["created_at"].endswith("Z")


def test_deliveries_as_the_log_shows_them(a: Tenant, b: Tenant, admin: Client) -> None:
    endpoint, other = (an_endpoint(a, url=f"{RECEIVER}/{name}") for name in ("one", "other"))
    failed = a_failed_delivery(a, endpoint)
    fine = a_failed_delivery(a, other)
    Delivery.objects.filter(pk=fine.pk).update(status="success", failed_at=None, error=None)
    a_failed_delivery(b, an_endpoint(b, url=RECEIVER))
    assert [row["uuid"] for row in table(exported(admin, "deliveries"))] == [str(fine.uuid), str(failed.uuid)]
    [row] = table(exported(admin, "deliveries", query=f"endpoint={endpoint.uuid}&status=error"))
    assert (row["webhook"], row["event"], row["response_status"]) == (endpoint.url, "workspace.created", "500")
    assert table(exported(admin, "deliveries", query="envelope_id=nothing")) == []


def test_broadcasts_with_their_counts(a: Tenant, b: Tenant, admin: Client) -> None:
    own = a_broadcast(a.workspace, name="Sale")
    a_broadcast(b.workspace)
    [row] = lines(exported(admin, "broadcasts", file_format="jsonl"))
    assert (row["uuid"], row["name"], row["sub_account"]) == (str(own.uuid), "Sale", a.workspace.name)
    assert type(row["delivered"]) is int
    assert table(exported(admin, "broadcasts", query="status=cancelled")) == []


def test_activity_by_its_filter(a: Tenant, b: Tenant, admin: Client) -> None:
    for tenant in (a, b):
        suspend_workspace(workspace=tenant.workspace, now=now(), by=SYSTEM, reason="Not paid")
    [row] = table(exported(admin, "activity", query="action=workspace.suspended"))
    assert (row["target_name"], row["actor_label"]) == (a.workspace.name, "system")
    assert json.loads(row["details"]) == {"reason": "Not paid"}


def test_a_formula_is_only_a_text() -> None:
    for beginning in FORMULAS:
        [[cell, number]] = csv.reader(StringIO(csv_row(["name", "n"], {"name": beginning, "n": 3}), newline=""))
        assert (cell, number) == (f"{' ' * beginning.count(' ')}'{beginning.strip(' ')}", "3"), beginning
        assert json.loads(json_line(["name"], {"name": beginning})) == {"name": beginning}
        if beginning.strip() == beginning:
            assert unescape_formula(escape_formula(beginning)) == beginning


def test_no_part_of_a_cell_is_a_formula() -> None:
    for cell, written in WITHIN.items():
        assert csv_row(["name"], {"name": cell}) == f'"{written}"\r\n', cell
        assert unescape_formula(written) == cell


def test_every_cell_is_in_quotation_marks() -> None:
    row = {"name": 'Grace "G"', "number": 3, "nothing": None, "yes": True}
    assert csv_row(list(row), row) == '"Grace ""G""","3","","yes"\r\n'


def test_what_is_written_is_read_again() -> None:
    """Any texts of the characters that mean something."""
    chance = Random(11)
    for _ in range(3_000):
        text = "".join(chance.choices("a=-;,\t\r\n' \uff0b", k=chance.randint(1, 9))).strip()
        assert unescape_formula(escape_formula(text)) == text


def test_a_file_of_many_rows_is_written_in_pieces_with_progress(a: Tenant, admin: Client) -> None:
    many_workspaces(a.agency, 25)
    export = start(admin)
    assert write_next_part(export.pk, now=now(), size=10)
    page = admin.get(f"/console/exports/{export.uuid}")
    assert "10 of 25 rows" in text(page)
    assert '<progress max="100" value="40"' in page.content.decode()
    assert '<noscript><meta http-equiv="refresh" content="2"></noscript>' in page.content.decode()
    assert admin.get(f"/console/exports/{export.uuid}/file").status_code == 404
    run_jobs()
    answer = admin.get(f"/console/exports/{export.uuid}/file")
    content = b"".join(answer.streaming_content)  # type: ignore[attr-defined]  # a file is streamed
    assert len({row["uuid"] for row in table(content.decode())}) == 25
    assert answer["Content-Disposition"] == f'attachment; filename="sub-accounts-{export.created_at:%Y-%m-%d}.csv"'
    assert (answer["Content-Type"], int(answer["Content-Length"])) == ("text/csv; charset=utf-8", len(content))
    assert "no-store" in answer["Cache-Control"]
    actions = ActivityEntry.objects.filter(action__startswith="export.").order_by("id")
    assert list(actions.values_list("action", flat=True)) == ["export.started", "export.downloaded"]


def test_only_the_agency_s_owners_and_admins_fetch_it(a: Tenant, b: Tenant, admin: Client, viewer: Client) -> None:
    assert a.workspace.is_active
    export = start(admin)
    run_jobs()
    paths = [f"/console/exports/{export.uuid}{end}" for end in ("", "/file")]
    for path in paths:
        assert at_the_console(a.agency, "owner").get(path).status_code == 200
        assert viewer.get(path).status_code == 403
        assert at_the_console(b.agency, "owner").get(path).status_code == 404
        assert Client().get(path).status_code == 302
    assert "Sub-accounts csv Completed" in text(admin.get("/console/exports"))
    assert "No exports yet" in text(at_the_console(b.agency, "owner").get("/console/exports"))


def test_whoever_loses_the_role_gets_no_file(a: Tenant, admin: Client) -> None:
    many_workspaces(a.agency, 5)
    export = start(admin)
    assert write_next_part(export.pk, now=now(), size=2)
    Member.objects.filter(user=export.created_by).update(role="viewer")
    run_jobs()
    export.refresh_from_db()
    assert (export.state, export.stopped_because) == ("stopped", "The person who started it may no longer do this.")
    assert not ExportPart.objects.exists()


def test_a_cancelled_one_is_gone(a: Tenant, admin: Client) -> None:
    many_workspaces(a.agency, 5)
    export = start(admin)
    assert write_next_part(export.pk, now=now(), size=2)
    answer = admin.post(f"/console/exports/{export.uuid}/cancel", follow=True)
    assert flashes(answer)[-1] == "The export was cancelled."
    assert not write_next_part(export.pk, now=now())
    assert not ExportPart.objects.exists()
    assert admin.get(f"/console/exports/{export.uuid}/file").status_code == 404


def test_after_a_week_it_is_gone(a: Tenant, admin: Client) -> None:
    assert a.workspace.is_active
    old, recent = start(admin), start(admin)
    run_jobs()
    week_ago = now() - timedelta(days=7, minutes=1)
    Export.objects.filter(pk=old.pk).update(created_at=week_ago, ended_at=week_ago)
    for end in ("", "/file"):
        assert admin.get(f"/console/exports/{old.uuid}{end}").status_code == 404
    assert forget_exports() == 1
    assert list(Export.objects.all()) == [recent]
    assert set(ExportPart.objects.values_list("export", flat=True)) == {recent.pk}


def test_an_agency_has_three_at_a_time_and_twenty_a_day(a: Tenant, admin: Client) -> None:
    assert a.workspace.is_active
    made = [start(admin) for _ in range(3)]
    fields = {"kind": "activity", "format": "csv"}
    assert "3 exports are running." in text(admin.post(EXPORT, fields))
    run_jobs()
    Export.objects.bulk_create(
        Export(agency=a.agency, created_by=made[0].created_by, kind="activity", state="completed", ended_at=now())
        for _ in range(17)
    )
    assert "20 exports were made in the last 24 hours." in text(admin.post(EXPORT, fields))


def test_another_list_than_the_one_it_came_from_has_no_filter(a: Tenant, admin: Client) -> None:
    assert a.agency.is_active
    answer = admin.post(
        f"{EXPORT}?kind=activity&query=action%3Dx", {"kind": "sub-accounts", "format": "csv", "query": "action=x"}
    )
    assert answer.status_code == 302
    assert newest_export().query == ""
    assert admin.post(EXPORT, {"kind": "secrets", "format": "csv"}).status_code == 422
