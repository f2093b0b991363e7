"""Each kind of notification: told once, to the right people of the right tenant, as each of them chose."""

from datetime import timedelta

import pytest
from django.db.models import F
from django.db.models.functions import Now
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import Mail, Notification, NotificationEvent, NotificationPreference, User
from agency.models.notifications import StateCheckPosition, Way
from agency.notification_kinds import notification_kinds, sentence_of
from agency.tenants import Audience
from tests import furnished
from tests.agency.console.browsers import a_browser, a_member, text
from tests.agency.notifications.happenings import HAPPENINGS, failing_endpoint, tell
from tests.factories import WorkspaceMemberFactory
from tests.tenants import Tenant
from webhooks.models import Endpoint
from webhooks.services import update_endpoint
from webhooks.services.endpoints import EndpointChanges

a, b = furnished.a, furnished.b
pytestmark = pytest.mark.django_db
ROLES = ("owner", "admin", "viewer")
HOUR = timedelta(hours=1)
every_kind = pytest.mark.parametrize("kind", HAPPENINGS)


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


def expected(kind: str) -> set[str]:
    of = HAPPENINGS[kind]
    return {*of.staff, *(("customer", "member") if of.people else ())}


def notified(kind: str, people: dict[str, User]) -> set[str]:
    """Who has a row of a kind; nobody else may have one, but whoever has just joined."""
    names = {user.pk: name for name, user in people.items()}
    rows = Notification.objects.filter(kind=kind).values_list("user", flat=True)
    assert len(rows) == len(set(rows))
    return {names[pk] for pk in rows if pk in names}


def test_the_table_names_every_kind() -> None:
    assert {kind.name for kind in notification_kinds} == HAPPENINGS.keys()


@every_kind
def test_each_recipient_is_notified_once_as_they_prefer_and_nobody_else(
    kind: str, a: Tenant, b: Tenant, people: dict[str, User]
) -> None:
    declared = notification_kinds.get(kind)
    assert declared
    for name, tenant in (("quiet", a.workspace), ("quiet staff", a.agency)):
        NotificationPreference.objects.create(user=people[name], area=tenant.uuid, kind=kind, way=Way.OFF)
    HAPPENINGS[kind].happen(a)
    tell()
    assert notified(kind, people) == expected(kind)
    is_urgent = declared.usual == Way.AT_ONCE and not declared.has_own_mail
    mails = Mail.objects.filter(kind="notification", context__kind=kind).values_list("user", flat=True)
    assert sorted(mails) == sorted(people[name].pk for name in expected(kind) - {"viewer"} if is_urgent)
    StateCheckPosition.objects.update(passed_at=None)
    NotificationEvent.objects.update(told_at=None, told_until=0)  # as if the task had died before it wrote this
    tell()
    assert notified(kind, people) == expected(kind)
    assert not Notification.objects.filter(area__in=[b.agency.uuid, b.workspace.uuid]).exists()
    reader = people[min(expected(kind))]
    page = "/console/notifications" if declared.audience == Audience.AGENCY else "/app/notifications"
    event = NotificationEvent.objects.get(kind=kind)
    shown = text(a_browser(reader).get(page))
    assert sentence_of(kind, event.data) in shown
    assert "unread" in shown
    assert a_browser(reader).get(declared.address(event.object_id), follow=True).status_code == 200


@pytest.mark.parametrize("kind", ["bulk_change.ended", "export.ended"])
def test_whoever_asked_for_a_job_may_switch_its_notification_off(kind: str, a: Tenant, people: dict[str, User]) -> None:
    NotificationPreference.objects.create(user=people["admin"], area=a.agency.uuid, kind=kind, way=Way.OFF)
    HAPPENINGS[kind].happen(a)
    tell()
    assert notified(kind, people) == set()
    assert NotificationEvent.objects.get(kind=kind).told_at


def test_a_state_that_begins_again_notifies_again(a: Tenant, people: dict[str, User]) -> None:
    endpoint = failing_endpoint(a)
    for since, number in ((2 * HOUR, 1), (None, 1), (HOUR, 2), (timedelta(0), 2)):
        failing_since(endpoint, since)
        NotificationEvent.objects.update(created_at=F("created_at") - 3 * HOUR)
        tell()
        tell()
        assert Notification.objects.filter(kind="endpoint.fails", user=people["owner"]).count() == number
    assert not NotificationEvent.objects.filter(kind="endpoint.fails", ended_at=None).exists()


@pytest.mark.parametrize("changes", [{"enabled": False}, {"url": "https://93.184.215.14/elsewhere"}])
def test_an_endpoint_that_is_switched_on_again_or_moved_has_not_failed_yet(
    changes: EndpointChanges, a: Tenant, people: dict[str, User]
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
    a: Tenant, people: dict[str, User]
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
