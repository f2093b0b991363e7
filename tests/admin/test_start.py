"""Support's start page, and what support does about what it shows: redelivering, restoring; the groups of support."""

from collections.abc import Callable

import pytest
from django.apps import apps
from django.contrib.auth.models import Group, Permission
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from agency.actors import SYSTEM
from agency.models import ActivityEntry, Agency, Domain, User
from agency.services import suspend_agency
from config.operations.support_groups import ACT, READ, make_support_groups
from tests.agency.console.browsers import text
from tests.factories import ChannelFactory, DomainFactory, EndpointFactory
from tests.factories.webhooks import a_failed_delivery
from tests.tenants import Tenant
from webhooks.models import Delivery, Endpoint
from workspaces.subaccounts.models import Channel, Workspace
from workspaces.subaccounts.services import mark_channel_lost, suspend_workspace

pytestmark = pytest.mark.django_db
START = "/admin/"


def go_wrong(tenant: Tenant) -> None:
    """Suspend, fail and break one of each."""
    now = timezone.now()
    host = DomainFactory.create(agency=tenant.agency).host
    Domain.objects.filter(host=host).update(failing_since=now)
    own = EndpointFactory.create(agency=tenant.agency)
    Endpoint.objects.filter(pk=own.pk).update(url=f"https://{tenant.mark}.example/hook", failing_since=now)
    channel = ChannelFactory.create(workspace=tenant.workspace, platform="whatsapp", handle=f"No. {tenant.mark}")
    mark_channel_lost(channel=channel, reason="token_revoked", now=now, by=SYSTEM)
    suspend_workspace(workspace=tenant.workspace, reason="unpaid", now=now, by=SYSTEM)
    suspend_agency(agency=tenant.agency, reason="abuse", now=now, by=SYSTEM)


def test_the_start_page_lists_what_is_wrong_among_all_agencies_and_finds(a: Tenant, b: Tenant, support: Client) -> None:
    assert "Suspended agencies Nothing." in text(support.get(START))
    go_wrong(a)
    with CaptureQueriesContext(connection) as once:
        page = support.get(START)
    shown = text(page)
    entry = ActivityEntry.objects.get(action="channel.lost")
    for part in (
        "Search all agencies",
        f"{a.agency} since",
        "abuse",
        f"{a.workspace.name} {a.agency} · since",
        "unpaid",
        f"WhatsApp No. {a.mark} {a.workspace.name} · {a.agency} · token_revoked · {entry.at:%Y-%m-%d %H:%M} UTC",
        f"https://{a.mark}.example/hook {a.agency} · the agency's own · since",
        "Failing domains",
    ):
        assert part in shown, part
    channel = Channel.objects.get(handle=f"No. {a.mark}")
    one = support.get(f"/admin/subaccounts/channel/{channel.pk}/change/").content.decode()
    assert f'href="/admin/agency/activityentry/{entry.pk}/change/">token_revoked' in one
    go_wrong(b)
    with CaptureQueriesContext(connection) as twice:
        support.get(START)
    assert len(twice) == len(once)


def test_the_start_page_shows_what_a_person_may_see(
    person: Callable[..., User], sign_in: Callable[[User], Client], a: Tenant
) -> None:
    colleague = person(is_staff=True)
    browser = sign_in(colleague)
    go_wrong(a)
    page = browser.get(START)
    assert (page.context["start_panels"], b'role="search"' in page.content) == ([], False)
    colleague.user_permissions.set(Permission.objects.filter(codename="view_channel"))
    assert [one.declared.name for one in browser.get(START).context["start_panels"]] == ["broken-channels"]


def test_a_failed_delivery_is_redelivered_by_those_who_may(
    person: Callable[..., User], sign_in: Callable[[User], Client], a: Tenant
) -> None:
    failed = a_failed_delivery(a, a.endpoint)
    colleague = person(is_staff=True)
    browser = sign_in(colleague)
    colleague.user_permissions.set(Permission.objects.filter(codename="view_delivery"))
    page, address = (f"/admin/webhooks/delivery/{failed.pk}/{name}/" for name in ("change", "redeliver"))
    assert b"Redeliver" not in browser.get(page).content
    assert browser.post(address).status_code == 403
    colleague.user_permissions.set(Permission.objects.filter(codename__in=["view_delivery", "change_delivery"]))
    assert address in browser.get(page).content.decode()
    assert browser.get(address).status_code == 405
    answer = browser.post(address, follow=True)
    again = Delivery.objects.exclude(pk=failed.pk).get(envelope_id=failed.envelope_id)
    assert (again.kind, again.status) == ("redelivery", "pending")
    assert "The event is delivered again." in text(answer)
    assert browser.post(f"/admin/webhooks/delivery/{again.pk}/redeliver/").status_code == 404
    Endpoint.objects.filter(pk=a.endpoint.pk).update(enabled=False)
    browser.post(address)
    assert Delivery.objects.filter(envelope_id=failed.envelope_id).count() == 2


def test_restoring_a_sub_account_asks_for_the_reason(support: Client, workspace: Workspace, agency: Agency) -> None:
    suspend_workspace(workspace=workspace, reason="unpaid", now=timezone.now(), by=SYSTEM)
    page, address = (f"/admin/subaccounts/workspace/{workspace.pk}/{name}/" for name in ("change", "restore"))
    assert address in support.get(page).content.decode()
    assert "unpaid" in text(support.get(address))
    support.post(address, {"reason": " "})
    workspace.refresh_from_db()
    assert not workspace.is_active
    assert f"{workspace} is active again." in text(support.post(address, {"reason": "Paid today"}, follow=True))
    workspace.refresh_from_db()
    assert workspace.is_active
    entry = ActivityEntry.objects.get(action="workspace.restored")
    assert (entry.details, entry.actor_kind) == ({"reason": "Paid today"}, "staff")
    assert address not in support.get(page).content.decode()


def test_the_groups_of_support_are_made_once_with_their_rights(
    person: Callable[..., User], sign_in: Callable[[User], Client], agency: Agency
) -> None:
    Group.objects.filter(name__in=[READ, ACT]).delete()
    for app in apps.get_app_configs():
        make_support_groups(app_config=app, using="default")
    colleague = person(is_staff=True)
    colleague.groups.set(Group.objects.filter(name=READ))
    browser = sign_in(colleague)
    assert browser.get(f"/admin/agency/agency/{agency.pk}/overview/").status_code == 200
    assert browser.get(f"/admin/agency/agency/{agency.pk}/suspend/").status_code == 403
    colleague.groups.set(Group.objects.filter(name=ACT))
    assert browser.get(f"/admin/agency/agency/{agency.pk}/suspend/").status_code == 200
    assert not colleague.has_perm("agency.change_user")
    Group.objects.get(name=READ).permissions.clear()
    for app in apps.get_app_configs():
        make_support_groups(app_config=app, using="default")
    assert not Group.objects.get(name=READ).permissions.exists()
