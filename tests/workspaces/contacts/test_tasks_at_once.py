"""People and automations add tasks at the same time, while others leave the workspace."""

import pytest
from django.db import transaction
from django.utils.timezone import now

from agency.actors import SYSTEM
from tests.factories import ContactFactory, WorkspaceMemberFactory
from tests.parallel import at_once
from tests.tenants import Tenant
from tests.workspaces.contacts.test_tasks import fill_up
from workspaces.contacts.models import Task
from workspaces.contacts.services.tasks import LIMIT_REACHED, NewTask, TaskLimitReached, create_task, create_tasks
from workspaces.subaccounts.services import remove_workspace_member

pytestmark = pytest.mark.django_db(transaction=True)


def test_the_last_room_is_given_once_and_nobody_who_has_left_keeps_a_task(a: Tenant) -> None:
    fill_up(a.workspace, 9_990)
    members = [WorkspaceMemberFactory.create(workspace=a.workspace) for _ in range(4)]
    contact = ContactFactory.create(workspace=a.workspace)

    def act(number: int) -> bool:
        member = members[number % 4]
        if number % 5 == 4:
            remove_workspace_member(member=member, now=now(), by=SYSTEM)
            return False
        if number % 2:
            new = NewTask(
                workspace_id=a.workspace.pk,
                contact_id=contact.pk,
                title="Call",
                due_at=None,
                assigned_to=member.user.email,
                by=SYSTEM,
            )
            with transaction.atomic():
                return LIMIT_REACHED not in create_tasks(tasks=[new], now=now())
        try:
            return bool(create_task(workspace=a.workspace, title="Call", now=now(), by=SYSTEM))
        except TaskLimitReached:
            return False

    assert sum(at_once(act, times=20, threads=5)) == 10
    assert Task.objects.of(a.workspace).open().count() == 10_000
    assert not Task.objects.filter(assigned_to__isnull=False).exists()
