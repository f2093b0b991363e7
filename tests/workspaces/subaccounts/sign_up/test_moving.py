"""Support moves a business's own workspace under it, when it has become a reseller."""

from contextlib import suppress
from decimal import Decimal

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission
from django.db import IntegrityError, connection, transaction
from django.test import Client
from django.utils.timezone import now

from agency.actors import SYSTEM, Actor
from agency.models import ActivityEntry, Agency, Event, Invitation, Mail
from agency.services import accept_invitation, suspend_agency
from channelconnect.models import ConnectSession
from channelconnect.services.sessions.creation import create_session
from tests.agency.console.browsers import a_browser, a_person, text
from tests.channelconnect.agencies import RETURN_URL, a_session, switch_on
from tests.factories import PlanFactory, WorkspaceFactory, a_workspace_key, plan_limits
from tests.parallel import at_once
from tests.tenants import Tenant
from tests.webhooks.delivering import make_deliveries
from webhooks.models import Delivery, Endpoint, QueuedDelivery
from webhooks.services.deliveries import send_test
from webhooks.services.endpoints import register_endpoint
from workspaces.catalogue.services import create_product
from workspaces.subaccounts.models import HeldAddon, Workspace
from workspaces.subaccounts.services import (
    WorkspaceNotFound,
    assign_plan,
    change_workspace,
    create_workspace,
    grant_addon,
    invite_workspace_member,
    issue_workspace_key,
    move_workspace,
    resend_owner_invitation,
    suspend_workspace,
    tenant_of,
)
from workspaces.subaccounts.services.workspaces import MovedMeanwhile, SubAccountLimitReached

pytestmark = pytest.mark.django_db
STAFF = Actor(kind="staff", id="1", label="support@example.com")


def move(workspace: Workspace, to: Tenant) -> Workspace:
    moved = move_workspace(workspace=workspace, agency=to.agency, now=now(), by=STAFF)
    moved.refresh_from_db()
    return moved


def counts(*tenants: Tenant) -> list[int]:
    return [Agency.objects.get(pk=tenant.agency.pk).sub_account_count for tenant in tenants]


def test_it_belongs_to_the_new_agency_alone_without_an_event(a: Tenant, b: Tenant) -> None:
    workspace = a.workspace
    before = len(a.events), len(b.events)
    moved = move(workspace, b)
    assert moved.agency == b.agency
    assert counts(a, b) == [0, 1]
    assert (len(a.events), len(b.events)) == before
    path = f"/workspaces/{workspace.uuid}"
    assert a.api.get(path).status_code == 404
    card = b.api.get(path).json()["data"]
    assert (card["uuid"], card["name"], card["plan"], card["addons"]) == (str(workspace.uuid), workspace.name, None, [])
    assert [one["uuid"] for one in b.api.get("/workspaces").json()["data"]] == [str(workspace.uuid)]


def test_it_keeps_its_limits_until_the_new_agency_assigns_a_plan(a: Tenant, b: Tenant) -> None:
    grant_addon(workspace=a.workspace, addon=a.addon, now=now(), by=SYSTEM)
    before = Workspace.objects.get(pk=a.workspace.pk).limits
    moved = move(a.workspace, b)
    assert (moved.plan, moved.limits, moved.plan_limits) == (None, before, before)
    assert not HeldAddon.objects.exists()
    plan = PlanFactory.create(agency=b.agency, limits=plan_limits(contacts=7))
    assigned = assign_plan(workspace=moved, plan=plan, now=now(), by=SYSTEM)
    assert assigned.limits["contacts"] == 7


def test_what_the_old_agency_called_it_stays_there(a: Tenant, b: Tenant) -> None:
    change_workspace(workspace=a.workspace, external_id="crm-1", metadata={"note": "pays late"}, by=SYSTEM)
    suspend_workspace(workspace=a.workspace, reason="unpaid bills", now=now(), by=SYSTEM)
    create_workspace(
        agency=b.agency,
        name="Other",
        owner_name="O",
        owner_email="o@example.com",
        external_id="crm-1",
        now=now(),
        by=SYSTEM,
    )
    moved = move(a.workspace, b)
    assert (moved.external_id, moved.metadata, moved.suspension_reason) == (None, {}, "")
    assert not moved.is_active
    assert "unpaid bills" not in str(b.api.get(f"/workspaces/{moved.uuid}").json())


def test_keys_and_channels_go_on_working(a: Tenant, b: Tenant) -> None:
    _, plaintext = a_workspace_key(a.workspace)
    channel = a.channel
    moved = move(a.workspace, b)
    answer = a_browser().get("/api/v1/workspace", headers={"x-api-key": plaintext})
    assert answer.status_code == 200
    shown = b.api.get(f"/workspaces/{moved.uuid}/channels").json()["data"]
    assert [one["id"] for one in shown] == [str(channel.uuid)]
    assert a.api.get(f"/workspaces/{moved.uuid}/channels").status_code == 404


def test_its_own_webhooks_go_along_with_their_log_and_get_what_was_not_sent_yet(a: Tenant, b: Tenant) -> None:
    workspace = a.workspace
    endpoint = register_endpoint(
        tenant=tenant_of(workspace), url="https://93.184.215.14/own", events=["product.created"], by=SYSTEM
    )
    old = send_test(endpoint=endpoint, event="product.created", now=now(), by=SYSTEM)
    create_product(workspace=workspace, name="Soap", price=Decimal(1), now=now(), by=SYSTEM)
    edited = Endpoint.objects.get(pk=endpoint.pk).edited_in
    moved = move(workspace, b)
    create_product(workspace=moved, name="Towel", price=Decimal(1), now=now(), by=SYSTEM)
    endpoint.refresh_from_db()
    assert (endpoint.agency, endpoint.edited_in >= edited) == (b.agency, True)
    make_deliveries(connection.connection)
    automatic = Delivery.objects.filter(endpoint=endpoint, kind="automatic").order_by("id")
    assert [one.event_name for one in automatic] == ["product.created"] * 2
    assert set(automatic.values_list("agency_id", flat=True)) == {b.agency.pk}
    assert QueuedDelivery.objects.filter(endpoint_id=endpoint.pk).count() == 3
    _, plaintext = issue_workspace_key(workspace=moved, name="Key", by=SYSTEM)
    log = a_browser().get("/api/v1/webhooks/deliveries", headers={"x-api-key": plaintext}).json()["data"]
    assert {one["id"] for one in log} == {str(old.uuid), *(str(one.uuid) for one in automatic)}
    one = a_browser().get(f"/api/v1/webhooks/deliveries/{old.uuid}", headers={"x-api-key": plaintext})
    assert one.status_code == 200


def test_connections_under_way_end_and_new_ones_are_the_new_agency_s(a: Tenant, b: Tenant) -> None:
    session = a_session(switch_on(a))
    switch_on(b)
    moved = move(a.workspace, b)
    session.refresh_from_db()
    assert (session.status, session.agency) == ("cancelled", a.agency)
    assert a.events[-1]["event"] == "channel.connection.cancelled"
    assert ConnectSession.objects.filter(agency=b.agency).count() == 0
    for tenant in (a, b):
        assert tenant.api.get(f"/workspaces/{moved.uuid}/channel-connections/{session.uuid}").status_code == 404
    assert b.api.get(f"/workspaces/{moved.uuid}/channel-connections").json()["data"] == []


def test_what_began_before_the_move_and_ends_after_it_is_the_new_agency_s_or_refused(a: Tenant, b: Tenant) -> None:
    switch_on(a)
    before = Workspace.objects.get(pk=a.workspace.pk)
    tenant = tenant_of(before)
    move(a.workspace, b)
    with pytest.raises(WorkspaceNotFound):
        create_session(
            agency=a.agency, workspace=before, platform="whatsapp", return_url=RETURN_URL, now=now(), by=SYSTEM
        )
    endpoint = register_endpoint(tenant=tenant, url="https://93.184.215.14/own", events=["product.created"], by=SYSTEM)
    assert endpoint.agency_id == b.agency.pk


def test_an_owner_who_is_asked_is_asked_by_the_new_agency(a: Tenant, b: Tenant) -> None:
    person = a_person()
    workspace = create_workspace(
        agency=a.agency, name="Shop", owner_name="Nora", owner_email=person.email, now=now(), by=SYSTEM
    )
    invitation = Invitation.objects.get()
    moved = move(workspace, b)
    invitation.refresh_from_db()
    mail = Mail.objects.get(invitation=invitation)
    assert (invitation.agency, mail.agency, mail.context["agency"]) == (b.agency, b.agency, b.agency.name)
    accept_invitation(invitation=invitation, user=person, now=now(), by=SYSTEM)
    moved.refresh_from_db()
    assert moved.owner_pending_since is None
    assert invite_newcomer_mail(a, b)


def test_invitations_that_have_left_are_sent_again_in_the_new_agency_s_name(a: Tenant, b: Tenant) -> None:
    by = Actor(kind="user", id="1", label="owner@example.com")
    invited = [
        invite_workspace_member(workspace=a.workspace, email=f"{name}@example.com", name=name, now=now(), by=by)
        for name in ("sent", "waiting", "expired", "declined")
    ]
    Mail.objects.exclude(invitation=invited[1]).update(sent_at=now())
    Invitation.objects.filter(pk=invited[2].pk).update(expires_at=now())
    Invitation.objects.filter(pk=invited[3].pk).update(status="declined", ended_at=now())
    move(a.workspace, b)
    for invitation in invited[:2]:
        (mail,) = Mail.objects.filter(invitation=invitation, sent_at=None)
        assert (mail.kind, mail.agency, mail.context["agency"]) == ("workspace_invitation", b.agency, b.agency.name)
    assert not Mail.objects.filter(invitation__in=invited[2:], sent_at=None).exists()


def test_an_owner_s_waiting_link_is_found_by_the_workspace_not_by_its_name(a: Tenant, b: Tenant) -> None:
    shops = [WorkspaceFactory.create(agency=a.agency, name="Shop", owner_email="nia@example.com") for _ in range(2)]
    change_workspace(workspace=shops[0], name="Renamed", by=SYSTEM)
    first, second = Mail.objects.filter(user=shops[0].owner).order_by("pk")
    move(shops[0], b)
    first.refresh_from_db()
    second.refresh_from_db()
    assert (first.agency, second.agency) == (b.agency, a.agency)


def invite_newcomer_mail(a: Tenant, b: Tenant) -> bool:
    workspace = WorkspaceFactory.create(agency=a.agency, name="Stall", owner_email="nia@example.com")
    moved = move(workspace, b)
    mail = Mail.objects.get(user=moved.owner)
    resend_owner_invitation(workspace=moved, now=now(), by=SYSTEM)
    return (mail.agency, mail.context["agency"]) == (b.agency, b.agency.name)


def test_both_logs_say_so_and_what_was_done_before_stays_with_the_old_agency(a: Tenant, b: Tenant) -> None:
    old = ActivityEntry.objects.filter(agency=a.agency, workspace_uuid=a.workspace.uuid).count()
    move(a.workspace, b)
    entries = ActivityEntry.objects.filter(action="workspace.moved")
    assert {(entry.agency_id, entry.actor_label) for entry in entries} == {
        (a.agency.pk, STAFF.label),
        (b.agency.pk, STAFF.label),
    }
    assert ActivityEntry.objects.filter(agency=a.agency, workspace_uuid=a.workspace.uuid).count() == old + 1
    assert Event.objects.filter(agency=b.agency).count() == 0


def test_under_its_own_agency_nothing_changes(a: Tenant) -> None:
    plan = a.workspace.plan
    assert move(a.workspace, a).plan == plan
    assert not ActivityEntry.objects.filter(action="workspace.moved").exists()


def test_the_new_agency_s_limit_and_suspension_count(a: Tenant, b: Tenant) -> None:
    Agency.objects.filter(pk=b.agency.pk).update(max_sub_accounts=0)
    with pytest.raises(SubAccountLimitReached):
        move(a.workspace, b)
    assert counts(a, b) == [1, 0]


def test_the_database_moves_nothing_unasked(a: Tenant, b: Tenant) -> None:
    workspace = a.workspace
    with pytest.raises(IntegrityError), transaction.atomic():
        Workspace.objects.filter(pk=workspace.pk).update(agency=b.agency)
    assert counts(a, b) == [1, 0]


@pytest.mark.django_db(transaction=True)
def test_of_moves_to_and_fro_at_once_one_comes_after_the_other(a: Tenant, b: Tenant) -> None:
    workspace = a.workspace
    targets = [b, a, b, a]

    def go(number: int) -> None:
        held = Workspace.objects.get(pk=workspace.pk)
        with suppress(MovedMeanwhile):
            move_workspace(workspace=held, agency=targets[number].agency, now=now(), by=STAFF)

    at_once(go, times=4)
    holder = Workspace.objects.get(pk=workspace.pk).agency_id
    assert counts(a, b) == [int(holder == a.agency.pk), int(holder == b.agency.pk)]


def staff(*codenames: str) -> Client:
    person = a_person(is_staff=True)
    person.user_permissions.set(Permission.objects.filter(codename__in=codenames))
    browser = a_browser()
    browser.post("/admin/login/", {"username": person.email, "password": "correct-horse-battery"})
    return browser


def test_support_moves_it_on_a_page_of_its_own(a: Tenant, b: Tenant) -> None:
    page = f"/admin/subaccounts/workspace/{a.workspace.pk}"
    support = staff("view_workspace", "change_workspace")
    assert f"{page}/move/".encode() in support.get(f"{page}/change/").content
    assert b"No event is sent." in support.get(f"{page}/move/").content
    named = {"typed_name": a.workspace.name}
    unknown = support.post(f"{page}/move/", {"agency": "a0000000-0000-4000-8000-000000000000", **named})
    assert "There is no agency with this uuid." in text(unknown)
    suspend_agency(agency=b.agency, reason="", now=now(), by=SYSTEM)
    assert "This is not its name" in text(
        support.post(f"{page}/move/", {"agency": str(b.agency.uuid), "typed_name": "x"})
    )
    assert "is suspended." in text(support.post(f"{page}/move/", {"agency": str(b.agency.uuid), **named}))
    Agency.objects.filter(pk=b.agency.pk).update(status="active", suspended_at=None)
    done = support.post(f"{page}/move/", {"agency": str(b.agency.uuid), **named})
    assert (done.status_code, done["Location"]) == (302, f"{page}/change/")
    assert Workspace.objects.get(pk=a.workspace.pk).agency == b.agency
    assert ActivityEntry.objects.filter(action="workspace.moved", actor_kind="staff").count() == 2
    assert LogEntry.objects.get(object_id=str(a.workspace.pk)).get_change_message().endswith(" now.")


def test_who_may_only_look_moves_nothing(a: Tenant, b: Tenant) -> None:
    page = f"/admin/subaccounts/workspace/{a.workspace.pk}"
    colleague = staff("view_workspace")
    assert b"/move/" not in colleague.get(f"{page}/change/").content
    assert colleague.post(f"{page}/move/", {"agency": str(b.agency.uuid)}).status_code == 403
    assert Workspace.objects.get(pk=a.workspace.pk).agency == a.agency


def test_a_session_of_before_does_not_outlive_the_move_as_the_old_agency_s(a: Tenant, b: Tenant) -> None:
    session = a_session(switch_on(a))
    move(a.workspace, b)
    with pytest.raises(IntegrityError), transaction.atomic():
        ConnectSession.objects.filter(pk=session.pk).update(agency=a.agency)
