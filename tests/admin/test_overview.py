"""What support sees of one agency on one page: each app's share, bounded, without secrets, by the looker's rights."""

from collections.abc import Callable
from datetime import timedelta
from hashlib import sha256
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from agency.actors import SYSTEM
from agency.admin.overview import MOST_ROWS
from agency.models import Agency, BulkOperation, Domain, Mail, Member, User
from agency.pages.search import support_panels, support_search_sources
from agency.services import issue_agency_key, suspend_agency
from broadcasts.models import Broadcast
from broadcasts.services.moving import give_up_broadcast
from channelconnect.models import ProviderNotice
from tests.agency.console.browsers import text
from tests.agency.two_factor import an_app
from tests.broadcasts.services.making import a_contact, scheduled, templated, work
from tests.factories import ChannelFactory, DomainFactory, MemberFactory, WorkspaceFactory
from tests.tenants import Tenant
from webhooks.models import Delivery, Endpoint
from webhooks.services.endpoints import new_secret
from workspaces.conversations.models import QueuedMessage
from workspaces.subaccounts.models import Workspace

pytestmark = pytest.mark.django_db


def page_of(agency: Agency) -> str:
    return f"/admin/agency/agency/{agency.pk}/overview/"


def troubled(agency: Agency, number: int) -> list[str]:
    """Make so many of each thing that support should see; gives the keys' texts."""
    now = timezone.now()
    secrets = []
    for place in range(number):
        name = f"n{place}-{agency.pk}"
        DomainFactory.create(agency=agency, host=f"{name}.example")
        MemberFactory.create(agency=agency, email=f"{name}@example.com", role="admin")
        secrets.append(issue_agency_key(agency=agency, name=name, can_copy=False, by=SYSTEM)[1])
        workspace = WorkspaceFactory.create(agency=agency, name=f"Shop {name}")
        ChannelFactory.create(workspace=workspace, name=f"Number {name}")
        endpoint = Endpoint.objects.create(
            agency=agency, url=f"https://{name}.example/hook", events=["workspace.created"], secret=new_secret()
        )
        Delivery.objects.create(
            agency=agency,
            endpoint=endpoint,
            event_name="workspace.created",
            envelope_id=endpoint.uuid,
            body=b"{}",
            kind="test",
        )
        Mail.objects.create(
            agency=agency, kind="test", recipient=f"{name}@example.com", failure="timeout", failed_at=now
        )
        BulkOperation.objects.create(
            agency=agency,
            created_by=Member.objects.filter(agency=agency).latest("id").user,
            kind="workspaces.suspend",
            state="stopped",
            ended_at=now,
            stopped_because="Its list is gone.",
        )
        ProviderNotice.objects.create(
            digest=sha256(name.encode()).digest(), body=b"what a customer wrote", tries=5, fault="ValueError"
        )
        channel = workspace.channels.get()
        QueuedMessage.objects.create(
            message_id=agency.pk * 1_000 + place,
            agency_id=agency.pk,
            workspace_id=workspace.pk,
            channel_id=channel.pk,
            conversation_id=1,
            due_at=now - timedelta(hours=1),
            is_ready=False,
        )
    agency.webhooks.update(last_outcome="error", last_delivery_at=now)
    Delivery.objects.update(status="error", completed_at=now, failed_at=now, error="timeout")
    Workspace.objects.filter(agency=agency)[0].channels.update(status="error")
    return secrets


def test_one_page_shows_what_is_wrong_and_who_is_there(support: Client, agency: Agency) -> None:
    secrets = troubled(agency, 1)
    Member.objects.filter(agency=agency).update(role="owner")
    an_app(Member.objects.get(agency=agency).user)
    content = support.get(page_of(agency)).content.decode()
    shown = text(support.get(page_of(agency)))
    name = f"n0-{agency.pk}"
    for part in (
        f"The webhook to https://{name}.example/hook is failing.",
        f"Number {name}",
        "the agency's own",
        "Failed · timeout",
        "waits for another attempt",
        f"test to {name}@example.com",
        "The server took too long to answer.",
        "Its list is gone.",
        f"{name}@example.com Owner · two-factor on",
        f"{name}.example",
        f"{secrets[0][:12]}…",
        "never used",
        "5 tries, given up",
        "Channel connect off",
        "Reseller API on",
        "API key created",
        f"Shop {name}",
        "1 sub-accounts no limit",
    ):
        assert part in shown, part
    assert secrets[0] not in content
    assert "what a customer wrote" not in content
    suspend_agency(agency=agency, reason="unpaid", now=timezone.now(), by=SYSTEM)
    assert "The agency is suspended. unpaid" in text(support.get(page_of(agency)))


def test_every_panel_is_bounded_and_its_list_can_be_opened(support: Client, agency: Agency) -> None:
    def statements() -> tuple[int, Any]:
        with CaptureQueriesContext(connection) as captured:
            page = support.get(page_of(agency))
        return len(captured), page

    troubled(agency, 1)
    few, _ = statements()
    troubled_again(agency, MOST_ROWS + 2)
    many, page = statements()
    assert many <= few + 1  # the log of deliveries looks at older days too
    panels = {shown.declared.name: shown for shown, _ in page.context["panels"]}
    assert panels.keys() == {panel.name for panel in support_panels}
    assert {name: len(shown.rows) for name, shown in panels.items() if len(shown.rows) > MOST_ROWS} == {}
    full = ("failing-endpoints", "failed-deliveries", "members", "domains", "keys", "workspaces", "failed-mails")
    assert [name for name in full if not panels[name].is_more] == []
    lists = [address for _, address in page.context["panels"] if address]
    assert len(lists) > 8
    for address in lists:
        assert support.get(address).status_code == 200, address
    rows = [shown.rows[0].url for shown in panels.values() if shown.rows and shown.rows[0].url]
    found = support.get(f"/admin/subaccounts/workspace/?agency__id__exact={agency.pk}&q=Shop+n3")
    assert found.context["cl"].result_count == 1
    assert {address: support.get(address).status_code for address in rows if "message" not in address} == {
        address: 200 for address in rows if "message" not in address
    }


def troubled_again(agency: Agency, number: int) -> None:
    Domain.objects.filter(agency=agency).delete()
    Member.objects.filter(agency=agency).delete()
    User.objects.filter(email__startswith="n0-").update(email="gone@example.com")
    ProviderNotice.objects.all().delete()
    QueuedMessage.objects.all().delete()
    troubled(agency, number)


def test_each_panel_and_source_wants_the_right_of_its_list(
    person: Callable[..., User], sign_in: Callable[[User], Client], agency: Agency
) -> None:
    colleague = person(is_staff=True)
    browser = sign_in(colleague)
    for path in (page_of(agency), "/admin/agency/agency/find/?q=Agency"):
        assert browser.get(path).status_code == 403
    colleague.user_permissions.set(Permission.objects.filter(codename="view_agency"))
    panels = browser.get(page_of(agency)).context["panels"]
    assert {shown.declared.name for shown, _ in panels} == {"health", "limits", "jobs"}
    assert browser.get("/admin/agency/agency/999999/overview/").status_code == 404
    known = {
        f"{one.content_type.app_label}.{one.codename}" for one in Permission.objects.select_related("content_type")
    }
    assert {one.permission for one in (*support_panels, *support_search_sources)} <= known


def test_a_domain_goes_once_its_host_was_typed(support: Client, agency: Agency) -> None:
    domain = DomainFactory.create(agency=agency)
    page = f"/admin/agency/domain/{domain.pk}/delete/"
    assert domain.host in text(support.get(page))
    assert "This is not its name" in text(support.post(page, {"post": "yes", "typed_name": ""}, follow=True))
    assert "This is not its name" in text(support.post(page, {"post": "yes", "typed_name": "x.example"}, follow=True))
    assert Domain.objects.filter(pk=domain.pk).exists()
    assert support.post(page, {"post": "yes", "typed_name": domain.host}).status_code == 302
    assert not Domain.objects.filter(pk=domain.pk).exists()


def test_a_broadcast_whose_preparation_broke_off_is_a_problem(support: Client, a: Tenant) -> None:
    a_contact(a, "+491511")
    broadcast = scheduled(a, message=templated(a))
    work()
    Broadcast.objects.filter(pk=broadcast.pk).update(is_prepared=False)
    assert "its preparation broke off" not in text(support.get(page_of(a.agency)))
    give_up_broadcast(broadcast=broadcast.pk, now=timezone.now())
    assert "its preparation broke off" in text(support.get(page_of(a.agency)))
