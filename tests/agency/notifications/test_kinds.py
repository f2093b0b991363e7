"""Each kind of notification: told once, to the right people of the right tenant, as each of them chose."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from decimal import Decimal

import pytest
from django.db.models import F
from django.db.models.functions import Now
from django.test import Client
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import (
    Agency,
    AgencyKey,
    BulkOperation,
    Domain,
    Export,
    Invitation,
    Mail,
    MailSettings,
    Member,
    Notification,
    NotificationEvent,
    NotificationPreference,
    User,
)
from agency.models.notifications import DeliveryMethod, StateCheckPosition
from agency.notification_kinds import NotificationKind, notification_kinds, sentence_of
from agency.services import accept_invitation, invite_member
from agency.services.bulk import end_bulk_operation
from agency.services.dns import HostRecords
from agency.services.domains import record_check
from agency.tasks import check_lasting_states, run_jobs, tell_people
from agency.tenants import Audience
from broadcasts.models import Broadcast, BroadcastCount
from broadcasts.services.moving import pause_for_fault
from tests import furnished
from tests.agency.console.browsers import a_browser, a_member, text
from tests.broadcasts.under_way import a_broadcast
from tests.channelconnect.sending.messages import a_conversation, a_message
from tests.factories import (
    ChannelFactory,
    ClassSeriesFactory,
    ClassSessionFactory,
    DomainFactory,
    EndpointFactory,
    StaffFactory,
    UserFactory,
    WorkspaceMemberFactory,
    a_workspace_key,
    an_agency_key,
)
from tests.factories.finance import a_payout, an_issued_invoice
from tests.factories.flows import a_flow, a_step
from tests.tenants import Tenant
from tests.workspaces.automations.calls.planned import an_account
from tests.workspaces.automations.engine.test_engine import on
from tests.workspaces.automations.runs import an_ended_run
from tests.workspaces.conversations.facts import receive, received
from webhooks.models import Endpoint
from webhooks.services.endpoints import EndpointChanges, update_endpoint
from workspaces.appointments.models import ExternalCalendar
from workspaces.appointments.tasks import read_calendars
from workspaces.automations.engine.loop import run_due
from workspaces.automations.services import enable_automation
from workspaces.automations.services.ai_accounts import record_refused_key, set_agency_ai_budget
from workspaces.automations.services.ai_budgets import Settlement, month_of, reserve, settle
from workspaces.automations.services.run_failures import switch_off_failing
from workspaces.classes.tasks import make_series
from workspaces.contacts.services.tasks import create_task
from workspaces.conversations.services.send_results import fail_queued_messages
from workspaces.finance.models import Checkout, Payment, ProviderAccount
from workspaces.finance.providers.stripe import ProviderDispute, ReceivedPayment
from workspaces.finance.services.accounts import stop_account
from workspaces.finance.services.connecting import GONE, record_endpoint_failure
from workspaces.finance.services.provider_facts import record_provider_dispute, record_provider_payment
from workspaces.finance.services.refunds import fail_refund, refund_payment
from workspaces.subaccounts.models import Workspace, WorkspaceKey
from workspaces.subaccounts.services import change_owner, invite_workspace_member, mark_channel_lost, tenant_of
from workspaces.subaccounts.services.notifications import request_channel


def staff_of(tenant: Tenant) -> User:
    """The admin whose jobs these are."""
    return Member.objects.get(agency=tenant.agency, role="admin").user


def failing_endpoint(tenant: Tenant, *, of_workspace: bool = False) -> Endpoint:
    own = tenant_of(tenant.workspace)
    made = EndpointFactory.create(agency=tenant.agency)
    of = {"workspace_id": own.workspace_id, "workspace_uuid": own.workspace_uuid} if of_workspace else {}
    since = now() - timedelta(hours=1)
    Endpoint.objects.filter(pk=made.pk).update(last_outcome="error", failing_since=since, **of)
    return made


def endpoint_fails(tenant: Tenant) -> None:
    failing_endpoint(tenant)


def workspace_endpoint_fails(tenant: Tenant) -> None:
    failing_endpoint(tenant, of_workspace=True)


def channel_is_lost(tenant: Tenant) -> None:
    channel = ChannelFactory.create(workspace=tenant.workspace)
    mark_channel_lost(channel=channel, reason="revoked", now=now(), by=SYSTEM)


def channel_is_requested(tenant: Tenant) -> None:
    request_channel(workspace=tenant.workspace, now=now(), by=SYSTEM)


def sub_accounts_run_out(tenant: Tenant) -> None:
    assert tenant.workspace.agency_id == tenant.agency.pk
    Agency.objects.filter(pk=tenant.agency.pk).update(max_sub_accounts=1)


def channels_run_out(tenant: Tenant) -> None:
    held = tenant.workspace.limits
    limits = {**held, "channels": {**held["channels"], "telegram": 10}}
    Workspace.objects.filter(pk=tenant.workspace.pk).update(limits=limits)
    for _ in range(9):
        ChannelFactory.create(workspace=tenant.workspace, platform="telegram")


def broadcast_is_paused(tenant: Tenant) -> None:
    made = a_broadcast(tenant.workspace)
    pause_for_fault([made.pk], "The number is blocked.", now())


def held_broadcast(tenant: Tenant) -> Broadcast:
    made = a_broadcast(tenant.workspace)
    BroadcastCount.objects.create(broadcast_id=made.pk, bucket=1, held=5)
    BroadcastCount.objects.create(broadcast_id=made.pk, bucket=2, held=-2)
    return made


def broadcast_is_held(tenant: Tenant) -> None:
    held_broadcast(tenant)


def automation_fails(tenant: Tenant) -> None:
    automation = enable_automation(automation=tenant.automation, now=now(), by=SYSTEM)
    for _ in range(20):
        an_ended_run(automation, tenant.contact, channel=tenant.channel, status="failed")
    switch_off_failing([automation.pk], now())
    switch_off_failing([automation.pk], now())


def automation_notifies(tenant: Tenant) -> None:
    on(tenant, a_flow(a_step("notify", "notify_team", text="Somebody wants a table.", by="app")))
    receive(received(tenant.channel, text="hello"))
    run_due()


def task_is_assigned(tenant: Tenant) -> None:
    create_task(workspace=tenant.workspace, title="Call", assigned_to=tenant.workspace.owner, now=now(), by=SYSTEM)


def _accepted(invitation: Invitation, user: User) -> None:
    accept_invitation(invitation=invitation, user=user, now=now(), by=SYSTEM)


def member_accepts(tenant: Tenant) -> None:
    new = UserFactory.create()
    made = invite_member(agency=tenant.agency, email=new.email, name="Nora", role="viewer", now=now(), by=SYSTEM)
    _accepted(made, new)


def owner_accepts(tenant: Tenant) -> None:
    new = UserFactory.create(password="correct-horse-battery")
    change_owner(workspace=tenant.workspace, name="Nora", email=new.email, now=now(), by=SYSTEM)
    _accepted(Invitation.objects.get(email=new.email), new)


def system_is_restored(tenant: Tenant) -> None:
    a_message(a_conversation(ChannelFactory.create(workspace=tenant.workspace)))
    fail_queued_messages(restore="once", now=now())


def person_accepts(tenant: Tenant) -> None:
    new = UserFactory.create()
    workspace = tenant.workspace
    made = invite_workspace_member(workspace=workspace, email=new.email, name="Nora", now=now(), by=SYSTEM)
    _accepted(made, new)


def export_ends(tenant: Tenant) -> None:
    Export.objects.create(agency=tenant.agency, created_by=staff_of(tenant), kind="activity", format="csv")
    run_jobs()


def bulk_change_ends(tenant: Tenant) -> None:
    made = BulkOperation.objects.create(
        agency=tenant.agency, created_by=staff_of(tenant), kind="sub_accounts.suspend", state="running"
    )
    end_bulk_operation(made, BulkOperation.State.COMPLETED, now=now())
    end_bulk_operation(made, BulkOperation.State.COMPLETED, now=now())


def mail_server_fails(tenant: Tenant) -> None:
    MailSettings.objects.create(
        agency=tenant.agency, host="mail.example", port=465, security="tls", from_address="a@mail.example", failures=3
    )


def domain_fails(tenant: Tenant) -> None:
    domain: Domain = DomainFactory.create(agency=tenant.agency)
    record_check(domain=domain, records=HostRecords(texts=(), points_here=True), now=now(), by=SYSTEM)


def key_ends(tenant: Tenant) -> None:
    key, _ = an_agency_key(tenant.agency)
    AgencyKey.objects.filter(pk=key.pk).update(created_at=now() - 30 * DAY, expires_at=now() + DAY / 2)


def workspace_key_ends(tenant: Tenant) -> None:
    key, _ = a_workspace_key(tenant.workspace)
    WorkspaceKey.objects.filter(pk=key.pk).update(created_at=now() - 30 * DAY, expires_at=now() + DAY / 2)


def key_is_refused(tenant: Tenant) -> None:
    account = an_account(tenant, "https://192.0.2.1")
    record_refused_key(account.pk, key_since=account.key_changed_at, now=now())


def budget_ends(tenant: Tenant, *, cost: int = 1_000_000) -> None:
    """All of the agency's budget is spent, and another call is refused; with less cost, most of it is spent."""
    account = an_account(tenant, "https://192.0.2.1")
    set_agency_ai_budget(agency=tenant.agency, monthly_budget=Decimal(1), by=SYSTEM)
    month = month_of(now())
    assert reserve(account, workspace_id=tenant.workspace.pk, amount=cost, month=month)
    settle([Settlement(tenant.agency.pk, month, account.pk, tenant.workspace.pk, cost, cost)])
    assert reserve(account, workspace_id=tenant.workspace.pk, amount=200_000, month=month) is (cost == 800_000)


def budget_nearly_ends(tenant: Tenant) -> None:
    budget_ends(tenant, cost=800_000)


def card_account(tenant: Tenant) -> ProviderAccount:
    return ProviderAccount.objects.get_or_create(workspace=tenant.workspace, endpoint_id="we_1")[0]


def card_payment(tenant: Tenant) -> Payment:
    """A payment through the provider."""
    invoice, account = an_issued_invoice(tenant.workspace), card_account(tenant)
    checkout = Checkout.objects.create(
        invoice=invoice, account=account, amount=10_000, currency=invoice.currency, expires_at=now()
    )
    received = ReceivedPayment("pi_1", "succeeded", 10_000, invoice.currency, None, str(checkout.uuid))
    made = record_provider_payment(checkout=checkout, received=received, now=now())
    assert made
    return made


def account_fails(tenant: Tenant) -> None:
    stop_account(card_account(tenant), code="key_refused", now=now())


def webhooks_are_missing(tenant: Tenant) -> None:
    record_endpoint_failure(card_account(tenant), GONE)


def invoice_is_overpaid(tenant: Tenant) -> None:
    payment = card_payment(tenant)
    assert payment.account
    again = ReceivedPayment("pi_2", "succeeded", 10_000, payment.currency, None, "")
    checkout = Checkout.objects.create(
        invoice=payment.invoice, account=payment.account, amount=1, currency="USD", expires_at=now()
    )
    record_provider_payment(checkout=checkout, received=again, now=now())


def payment_is_disputed(tenant: Tenant) -> None:
    payment = card_payment(tenant)
    told = ProviderDispute("dp_1", "pi_1", "needs_response", "fraudulent", 10_000, payment.currency, withdrawn=True)
    record_provider_dispute(payment=payment, told=told, now=now())


def refund_fails(tenant: Tenant) -> None:
    refund = refund_payment(payment=card_payment(tenant), amount=1, now=now(), by=SYSTEM)
    fail_refund(refund, failure="refused")


def payout_fails(tenant: Tenant) -> None:
    a_payout(tenant.workspace, "failed")


@dataclass(frozen=True)
class Happening:
    """`staff` are the roles of the agency's people who are told, and `people` whether those of the workspace are.

    With `owner` only the workspace's owner is told.
    """

    happen: Callable[[Tenant], None]
    staff: tuple[str, ...] = ("owner", "admin")
    people: bool = False
    owner: bool = False


def class_is_left_out(tenant: Tenant) -> None:
    """A series' host has another class at the time."""
    workspace, host = tenant.workspace, StaffFactory.create(workspace=tenant.workspace)
    first = now().date() + timedelta(days=2)
    at = datetime.combine(first, time(18), UTC)
    ClassSessionFactory.create(workspace=workspace, staff=host, starts_at=at)
    ClassSeriesFactory.create(workspace=workspace, staff=host, first_date=first, count=1)
    make_series()


def calendar_is_not_read(tenant: Tenant) -> None:
    """For a day, because its address may not be called."""
    staff = StaffFactory.create(workspace=tenant.workspace)
    past = now() - timedelta(days=1)
    ExternalCalendar.objects.create(
        staff=staff, name="Private", address="http://127.0.0.1:9/", host="127.0.0.1", due_at=past, failing_since=past
    )
    read_calendars()


EVERYBODY = ("owner", "admin", "viewer")
HAPPENINGS = {
    "agency.near_limit": Happening(sub_accounts_run_out, EVERYBODY),
    "mail_server.fails": Happening(mail_server_fails),
    "domain.fails": Happening(domain_fails),
    "invitation.accepted": Happening(member_accepts, EVERYBODY),
    "bulk_change.ended": Happening(bulk_change_ends, ("admin",)),
    "export.ended": Happening(export_ends, ("admin",)),
    "channel.lost": Happening(channel_is_lost, EVERYBODY),
    "sub_account.near_limit": Happening(channels_run_out, EVERYBODY),
    "sub_account.owner_accepted": Happening(owner_accepts, EVERYBODY),
    "sub_account.channel_requested": Happening(channel_is_requested),
    "workspace.channel_lost": Happening(channel_is_lost, (), people=True),
    "workspace.near_limit": Happening(channels_run_out, (), people=True),
    "automation.switched_off_for_failures": Happening(automation_fails, (), people=True),
    "automation.team_notified": Happening(automation_notifies, (), people=True),
    "task.assigned": Happening(task_is_assigned, (), owner=True),
    "workspace.person_joined": Happening(person_accepts, (), people=True),
    "api_key.expires": Happening(key_ends),
    "workspace.api_key_expires": Happening(workspace_key_ends, (), people=True),
    "endpoint.fails": Happening(endpoint_fails),
    "ai_account.key_refused": Happening(key_is_refused),
    "ai_budget.nearly_used": Happening(budget_nearly_ends),
    "ai_budget.used_up": Happening(budget_ends),
    "workspace.endpoint_fails": Happening(workspace_endpoint_fails, (), people=True),
    "broadcast.paused": Happening(broadcast_is_paused, EVERYBODY),
    "workspace.broadcast_paused": Happening(broadcast_is_paused, (), people=True),
    "workspace.broadcast_held": Happening(broadcast_is_held, (), people=True),
    "class.left_out": Happening(class_is_left_out, (), people=True),
    "external_calendar.unread": Happening(calendar_is_not_read, (), people=True),
    "workspace.payment_account_failing": Happening(account_fails, (), people=True),
    "workspace.payment_webhooks_missing": Happening(webhooks_are_missing, (), people=True),
    "workspace.invoice_overpaid": Happening(invoice_is_overpaid, (), people=True),
    "workspace.payment_disputed": Happening(payment_is_disputed, (), people=True),
    "workspace.refund_failed": Happening(refund_fails, (), people=True),
    "workspace.payout_failed": Happening(payout_fails, (), people=True),
    "workspace.restored_from_backup": Happening(system_is_restored, (), people=True),
}


def tell() -> None:
    """What beat asks for: find what lasts, and tell people."""
    check_lasting_states()
    tell_people()


a, b = furnished.a, furnished.b
pytestmark = [pytest.mark.slow, pytest.mark.django_db]
ROLES = ("owner", "admin", "viewer")
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def declared(kind: str) -> NotificationKind:
    found = notification_kinds.get(kind)
    assert found
    return found


# Who joins a workspace is notified of what else happens there.
ALONE = "workspace.person_joined"


def dealt(audience: Audience, rounds: int) -> list[list[str]]:
    """Deal an audience's kinds to rounds. Neighbours that need the same account or budget come into different ones."""
    kinds = [kind for kind in HAPPENINGS if declared(kind).audience == audience and kind != ALONE]
    return [kinds[first::rounds] for first in range(rounds)]


# What happens in a round happens together. A person gets at most six mails at once in an hour, so a round is smaller.
ROUNDS = dealt(Audience.AGENCY, 3) + dealt(Audience.WORKSPACE, 4) + [[ALONE]]


@pytest.fixture
def people(a: Tenant, b: Tenant) -> dict[str, User]:
    """The staff of an agency and the people of its workspace, by what they are, beside another agency's."""
    for role in ROLES:
        a_member(b.agency, role)
    WorkspaceMemberFactory.create(workspace=b.workspace)
    quiet_staff = a_member(a.agency, "owner").user
    staff = {role: a_member(a.agency, role).user for role in ROLES}
    member, quiet = (WorkspaceMemberFactory.create(workspace=a.workspace).user for _ in range(2))
    NotificationEvent.objects.all().delete()  # that they have joined
    return {**staff, "customer": a.workspace.owner, "member": member, "quiet": quiet, "quiet staff": quiet_staff}


@pytest.fixture
def staff(a: Tenant) -> dict[str, User]:
    """Only those of the agency's people whom a test of one kind looks at."""
    return {role: a_member(a.agency, role).user for role in ("owner", "admin")}


def expected(kind: str) -> set[str]:
    of = HAPPENINGS[kind]
    return {*of.staff, *(("customer", "member") if of.people else ("customer",) if of.owner else ())}


def notified(kind: str, people: dict[str, User]) -> set[str]:
    """Who has a row of a kind; nobody else may have one, but whoever has just joined."""
    names = {user.pk: name for name, user in people.items()}
    rows = Notification.objects.filter(kind=kind).values_list("user", flat=True)
    assert len(rows) == len(set(rows))
    return {names[pk] for pk in rows if pk in names}


def test_the_table_names_every_kind() -> None:
    """Kinds that only devices show are in `tests/workspaces/conversations/test_alerts.py`."""
    assert {kind.name for kind in notification_kinds if not kind.is_only_pushed} == HAPPENINGS.keys()


@pytest.mark.parametrize("kinds", ROUNDS, ids=" ".join)
def test_each_recipient_is_notified_once_as_they_prefer_and_nobody_else(
    kinds: list[str], a: Tenant, b: Tenant, people: dict[str, User]
) -> None:
    for name, tenant in (("quiet", a.workspace), ("quiet staff", a.agency)):
        for kind in kinds:
            NotificationPreference.objects.create(
                user=people[name], area=tenant.uuid, kind=kind, way=DeliveryMethod.OFF
            )
    for kind in kinds:
        HAPPENINGS[kind].happen(a)
    tell()
    wanted = {kind: expected(kind) for kind in kinds}
    assert {kind: notified(kind, people) for kind in kinds} == wanted
    assert {kind: mailed(kind) for kind in kinds} == {kind: to_mail(kind, people) for kind in kinds}
    StateCheckPosition.objects.update(passed_at=None)
    NotificationEvent.objects.update(told_at=None, told_until=0)  # as if the task had died before it wrote this
    tell()
    assert {kind: notified(kind, people) for kind in kinds} == wanted
    assert not Notification.objects.filter(area__in=[b.agency.uuid, b.workspace.uuid]).exists()
    assert_are_on_the_page_and_lead_somewhere(kinds, a_browser(people[min(wanted[kinds[0]])]))


def mailed(kind: str) -> list[int]:
    return sorted(Mail.objects.filter(kind="notification", context__kind=kind).values_list("user", flat=True))


def to_mail(kind: str, people: dict[str, User]) -> list[int]:
    """Who gets a mail at once: the recipients of an urgent kind, but those who only look on."""
    kind_of = declared(kind)
    is_urgent = kind_of.usual == DeliveryMethod.AT_ONCE and not kind_of.has_own_mail
    return sorted(people[name].pk for name in expected(kind) - {"viewer"} if is_urgent)


def assert_are_on_the_page_and_lead_somewhere(kinds: list[str], reader: Client) -> None:
    is_staffs = declared(kinds[0]).audience == Audience.AGENCY
    shown = text(reader.get("/console/notifications" if is_staffs else "/app/notifications"))
    events = {kind: NotificationEvent.objects.get(kind=kind) for kind in kinds}
    assert [kind for kind, event in events.items() if sentence_of(kind, event.data) not in shown] == []
    assert "unread" in shown
    assert shown.count("Mark as read") >= len(kinds)
    pages = {kind: reader.get(declared(kind).address(event.object_id), follow=True) for kind, event in events.items()}
    assert {kind: page.status_code for kind, page in pages.items()} == dict.fromkeys(kinds, 200)


@pytest.mark.parametrize("kind", ["bulk_change.ended", "export.ended"])
def test_whoever_asked_for_a_job_may_switch_its_notification_off(kind: str, a: Tenant, staff: dict[str, User]) -> None:
    NotificationPreference.objects.create(user=staff["admin"], area=a.agency.uuid, kind=kind, way=DeliveryMethod.OFF)
    HAPPENINGS[kind].happen(a)
    tell()
    assert not Notification.objects.filter(kind=kind).exists()
    assert NotificationEvent.objects.get(kind=kind).told_at


def test_a_state_that_begins_again_notifies_again(a: Tenant, staff: dict[str, User]) -> None:
    endpoint = failing_endpoint(a)
    for since, number in ((2 * HOUR, 1), (None, 1), (HOUR, 2), (timedelta(0), 2)):
        failing_since(endpoint, since)
        NotificationEvent.objects.update(created_at=F("created_at") - 3 * HOUR)
        tell()
        tell()
        assert Notification.objects.filter(kind="endpoint.fails", user=staff["owner"]).count() == number
    assert not NotificationEvent.objects.filter(kind="endpoint.fails", ended_at=None).exists()


@pytest.mark.parametrize("changes", [{"enabled": False}, {"url": "https://93.184.215.14/elsewhere"}])
def test_an_endpoint_that_is_switched_on_again_or_moved_has_not_failed_yet(
    changes: EndpointChanges, a: Tenant, staff: dict[str, User]
) -> None:
    endpoint = failing_endpoint(a)
    failing_since(endpoint, 3 * HOUR)
    update_endpoint(endpoint=endpoint, by=SYSTEM, **changes)
    update_endpoint(endpoint=endpoint, by=SYSTEM, enabled=True)
    tell()
    assert not NotificationEvent.objects.filter(kind="endpoint.fails").exists()
    update_endpoint(endpoint=endpoint, by=SYSTEM, description="Only a word")
    failing_since(endpoint, 2 * HOUR)
    update_endpoint(endpoint=endpoint, by=SYSTEM, description="Another one")
    tell()
    assert NotificationEvent.objects.filter(kind="endpoint.fails").exists()


def failing_since(endpoint: Endpoint, ago: timedelta | None) -> None:
    """Have an endpoint fail for so long by the database's clock; None: it has taken the newest delivery."""
    since = None if ago is None else Now() - ago
    Endpoint.objects.filter(pk=endpoint.pk).update(
        last_outcome="success" if ago is None else "error", failing_since=since
    )


def test_an_endpoint_that_fails_for_an_hour_is_notified_of_within_a_run_of_the_check(
    a: Tenant, staff: dict[str, User]
) -> None:
    """And one that is switched off, or removed, never."""
    failing, disabled, removed = (failing_endpoint(a) for _ in range(3))
    Endpoint.objects.filter(pk=disabled.pk).update(enabled=False)
    Endpoint.objects.filter(pk=removed.pk).update(removed_at=now(), secret=None)
    failing_since(failing, HOUR - timedelta(seconds=20))
    tell()
    assert not NotificationEvent.objects.filter(kind="endpoint.fails").exists()
    failing_since(failing, HOUR)
    tell()
    assert NotificationEvent.objects.get(kind="endpoint.fails").key == str(failing.uuid)


def test_a_key_is_told_of_a_week_before_it_expires_and_a_day_before_and_no_key_that_has_gone(
    a: Tenant, staff: dict[str, User]
) -> None:
    key, _ = an_agency_key(a.agency)
    rolled, revoked, brief, later = (an_agency_key(a.agency)[0] for _ in range(4))
    rows = AgencyKey.objects.filter(pk__in=[one.pk for one in (key, rolled, revoked, brief, later)])
    rows.update(created_at=now() - 30 * DAY, expires_at=now() + 7 * DAY)
    rows.filter(pk=rolled.pk).update(replaced_by=later)
    rows.filter(pk=revoked.pk).update(revoked_at=now())
    rows.filter(pk=brief.pk).update(created_at=now(), expires_at=now() + 3 * DAY)
    rows.filter(pk=later.pk).update(expires_at=now() + 8 * DAY)

    def notified() -> list[str]:
        StateCheckPosition.objects.update(passed_at=None)
        tell()
        return sorted(NotificationEvent.objects.filter(kind="api_key.expires").values_list("key", flat=True))

    assert notified() == [f"{key.uuid}:week"]
    assert notified() == [f"{key.uuid}:week"]
    rows.filter(pk=key.pk).update(expires_at=now() + DAY)
    assert notified() == [f"{key.uuid}:day", f"{key.uuid}:week"]
    rows.filter(pk=key.pk).update(expires_at=now() - HOUR)
    assert notified() == [f"{key.uuid}:day", f"{key.uuid}:week"]
    assert Notification.objects.filter(kind="api_key.expires", user=staff["admin"]).count() == 2
