"""A job that fails is tried again ever later, then has failed; support begins it again."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.db.models import F
from django.test import Client
from django.utils.timezone import now

from agency.models import BulkOperation, Export, NotificationEvent, User
from agency.services.bulk import BROKE_OFF, run_batch
from agency.services.exports import KEPT, write_next_part
from agency.services.jobs import WAITS
from agency.tasks import run_jobs
from config.celery.tasks import due_among, due_work
from config.tries.counting import MOST_TRIES
from config.tries.models import BegunWork
from tests.agency.console.browsers import text
from tests.agency.jobs.asking import EXPORT, begin, choice, newest_export
from tests.factories import WorkspaceFactory
from tests.tenants import Tenant

pytestmark = pytest.mark.django_db
MOMENT = timedelta(seconds=1)


def a_bulk_change(a: Tenant, admin: Client) -> BulkOperation:
    """One that has done its first item of two."""
    WorkspaceFactory.create(agency=a.agency)
    job = begin(admin, choice("sub_accounts.suspend"), reason="")
    for _ in range(2):
        run_batch(job.pk, now=now(), batch=1)
    return job


def an_export(a: Tenant, admin: Client) -> Export:
    """One that has written its first row of two."""
    WorkspaceFactory.create(agency=a.agency)
    admin.post(EXPORT, {"kind": "sub-accounts", "format": "csv", "query": ""})
    job = newest_export()
    write_next_part(job.pk, now=now(), size=1)
    return job


def pass_time(time: timedelta) -> None:
    BegunWork.objects.update(begun_at=F("begun_at") - time)


def tries() -> int:
    """Run what is due, and count the tries that have failed."""
    run_jobs()
    run_jobs()
    return BegunWork.objects.get().tries


def fail(job: Any) -> None:
    """Have a job fail until it is given up: no app declares the kind that it has meanwhile."""
    kind, rows = job.kind, type(job).objects.filter(pk=job.pk)
    rows.update(kind="no.such_kind")
    for number, wait in enumerate(WAITS, 1):
        assert tries() == number
        pass_time(wait - MOMENT)
        assert "agency.run_jobs" not in due_among(due_work)
        assert tries() == number
        pass_time(MOMENT)
        assert "agency.run_jobs" in due_among(due_work)
    assert tries() == MOST_TRIES + 1
    rows.update(kind=kind)


def is_whole(job: Any) -> bool:
    """Whether a job has done all that it was begun for, each once."""
    if isinstance(job, BulkOperation):
        return (job.total, job.succeeded) == (2, 2)
    return bool(job.rows == 2 and job.parts.count() == 2)  # the names of the columns, and both rows


@pytest.mark.parametrize(
    ("make", "pages", "failed", "begun_again"),
    [
        (a_bulk_change, "bulk-changes", "Bulk change failed", "Bulk change restarted"),
        (an_export, "exports", "Export failed", "Export restarted"),
    ],
    ids=["bulk change", "export"],
)
def test_a_job_that_fails_is_given_up_until_support_begins_it_again(
    a: Tenant,
    admin: Client,
    support: Client,
    make: Callable[[Tenant, Client], Any],
    pages: str,
    failed: str,
    begun_again: str,
) -> None:
    a.workspace.refresh_from_db()
    job = make(a, admin)
    fail(job)
    shown = text(admin.get(f"/console/{pages}/{job.uuid}"))
    assert BROKE_OFF in shown
    assert "Failed" in shown
    assert failed in text(admin.get("/console/activity"))
    assert BegunWork.objects.exclude(set_aside_at=None).get().key == str(job.pk)

    of_support = f"/admin/agency/{job._meta.model_name}/{job.pk}"
    assert "Restart" in support.get(f"{of_support}/change/").content.decode()
    assert "was restarted" in support.post(f"{of_support}/restart/", follow=True).content.decode()
    run_jobs()
    job.refresh_from_db()
    assert (job.state, job.stopped_because) == ("completed", "")
    assert is_whole(job)
    assert not BegunWork.objects.exists()
    assert begun_again in text(admin.get("/console/activity"))
    ended = NotificationEvent.objects.filter(object_id=job.uuid).order_by("id")
    assert [event.data["state"] for event in ended] == ["failed", "completed"]
    again = support.post(f"{of_support}/restart/", follow=True).content.decode()
    assert "Only a job that has failed can be restarted." in again


def test_support_who_may_only_look_begin_no_job_again(
    a: Tenant, admin: Client, person: Callable[..., User], sign_in: Callable[[User], Client]
) -> None:
    job = a_bulk_change(a, admin)
    fail(job)
    reader = person(is_staff=True)
    reader.user_permissions.set(Permission.objects.filter(codename="view_bulkoperation"))
    browser = sign_in(reader)
    of_support = f"/admin/agency/bulkoperation/{job.pk}"
    assert "Restart" not in browser.get(f"{of_support}/change/").content.decode()
    assert browser.post(f"{of_support}/restart/").status_code == 403
    job.refresh_from_db()
    assert job.state == "failed"


def test_an_export_that_the_console_no_longer_offers_is_not_begun_again(
    a: Tenant, admin: Client, support: Client
) -> None:
    job = an_export(a, admin)
    fail(job)
    Export.objects.update(created_at=now() - KEPT)
    refused = support.post(f"/admin/agency/export/{job.pk}/restart/", follow=True).content.decode()
    assert "This export is too old to be restarted." in refused
    job.refresh_from_db()
    assert job.state == "failed"
