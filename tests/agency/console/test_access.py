"""Every page of the console against everybody who might open it. A page that is missing here fails the tests."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, get_args
from uuid import uuid4

import pytest
from django.urls import get_resolver, reverse
from django.utils.timezone import now
from pytest_django import DjangoDbBlocker

from agency.actors import SYSTEM
from agency.models import BulkOperation, Domain, Export, Mail
from agency.pages.forms import ConfirmationForm
from agency.pages.views import FormView
from agency.services import invite_member, queue_mail
from tests import furnished
from tests.agency.console.browsers import a_member, at_the_console
from tests.factories import DomainFactory
from tests.furnished import loaded
from tests.page_walk import Ids, ids_of_both, in_turns, one_of_each_check, statuses, unlike_unknown_ids, view_of
from tests.tenants import Tenant
from workspaces.subaccounts.services import grant_addon

a, b = furnished.a, furnished.b

pytestmark = [pytest.mark.slow, pytest.mark.django_db]
ALL = {"owner", "admin", "viewer"}
CHANGERS = {"owner", "admin"}
OWNERS = {"owner"}
NOBODY: set[str] = set()
MakesIds = Callable[[Tenant], list[Any]]


def no_ids(_: Tenant) -> list[Any]:
    return []


def guide(_: Tenant) -> list[Any]:
    return ["plans"]


def plan(tenant: Tenant) -> list[Any]:
    return [tenant.plan.uuid]


def addon(tenant: Tenant) -> list[Any]:
    return [tenant.addon.uuid]


def key(tenant: Tenant) -> list[Any]:
    return [tenant.key.uuid]


def domain(tenant: Tenant) -> list[Any]:
    """One that has just been checked, so that nobody is asked about it again."""
    made = DomainFactory.create(
        agency=tenant.agency, host=f"{tenant.mark}-{uuid4().hex[:8]}.localhost", is_verified=False
    )
    Domain.objects.filter(pk=made.pk).update(checked_at=now())
    return [made.uuid]


def member(tenant: Tenant) -> list[Any]:
    return [a_member(tenant.agency, "viewer").pk]


def invitation(tenant: Tenant) -> list[Any]:
    made = invite_member(
        agency=tenant.agency,
        email=f"{tenant.mark}-{uuid4().hex[:8]}@example.com",
        name="Nora",
        role="viewer",
        now=now(),
        by=SYSTEM,
    )
    return [made.uuid]


def workspace(tenant: Tenant) -> list[Any]:
    return [tenant.workspace.uuid]


def held_addon(tenant: Tenant) -> list[Any]:
    grant_addon(workspace=tenant.workspace, addon=tenant.addon, now=now(), by=SYSTEM)
    return [tenant.workspace.uuid, tenant.addon.uuid]


def channel(tenant: Tenant) -> list[Any]:
    return [tenant.workspace.uuid, tenant.channel.uuid]


def failed_mail(tenant: Tenant) -> list[Any]:
    mail = queue_mail(kind=Mail.Kind.OWNER_INVITATION, user=tenant.workspace.owner, agency=tenant.agency, context={})
    Mail.objects.filter(pk=mail.pk).update(failure="recipient", failed_at=now(), given_up_at=now())
    return [mail.pk]


def asked_by(tenant: Tenant) -> dict[str, Any]:
    """What a job that has ended says of whoever asked for it."""
    return {"agency": tenant.agency, "created_by": a_member(tenant.agency, "admin").user, "ended_at": now()}


def bulk_operation(tenant: Tenant) -> list[Any]:
    made = BulkOperation.objects.create(kind="sub_accounts.suspend", state="completed", **asked_by(tenant))
    return [made.uuid]


def export(tenant: Tenant) -> list[Any]:
    return [Export.objects.create(kind="activity", state="completed", **asked_by(tenant)).uuid]


@dataclass(frozen=True)
class PageAccess:
    """Who may look at a page and who may post to it; nobody at all means that the method is not there.

    Whoever opens an address that only takes forms is led to the page with the form.
    """

    looks: set[str]
    posts: set[str]
    ids: MakesIds = no_ids


PAGES = {
    "home": PageAccess(ALL, NOBODY),
    "design": PageAccess(ALL, NOBODY),
    "saved-view-save": PageAccess(NOBODY, ALL),
    "saved-view-remove": PageAccess(NOBODY, ALL),
    "find": PageAccess(ALL, NOBODY),
    "find-suggestions": PageAccess(ALL, NOBODY),
    "plans": PageAccess(ALL, NOBODY),
    "plan-new": PageAccess(CHANGERS, CHANGERS),
    "plan": PageAccess(ALL, NOBODY, plan),
    "plan-edit": PageAccess(CHANGERS, CHANGERS, plan),
    "plan-archive": PageAccess(CHANGERS, CHANGERS, plan),
    "plan-default": PageAccess(NOBODY, CHANGERS, plan),
    "addons": PageAccess(ALL, NOBODY),
    "addon-new": PageAccess(CHANGERS, CHANGERS),
    "addon": PageAccess(ALL, NOBODY, addon),
    "addon-edit": PageAccess(CHANGERS, CHANGERS, addon),
    "addon-archive": PageAccess(CHANGERS, CHANGERS, addon),
    "api-keys": PageAccess(ALL, NOBODY),
    "api-key-new": PageAccess(CHANGERS, CHANGERS),
    "api-key-roll": PageAccess(CHANGERS, CHANGERS, key),
    "api-key-revoke": PageAccess(CHANGERS, CHANGERS, key),
    "brand": PageAccess(ALL, NOBODY),
    "brand-colour": PageAccess(CHANGERS, CHANGERS),
    "brand-language": PageAccess(CHANGERS, CHANGERS),
    "brand-logo": PageAccess(CHANGERS, CHANGERS),
    "brand-logo-remove": PageAccess(CHANGERS, CHANGERS),
    "sign-up": PageAccess(ALL, NOBODY),
    "sign-up-edit": PageAccess(CHANGERS, CHANGERS),
    "domains": PageAccess(ALL, NOBODY),
    "domain-new": PageAccess(CHANGERS, CHANGERS),
    "domain": PageAccess(ALL, NOBODY, domain),
    "domain-check": PageAccess(NOBODY, CHANGERS, domain),
    "domain-primary": PageAccess(NOBODY, CHANGERS, domain),
    "domain-remove": PageAccess(CHANGERS, CHANGERS, domain),
    "brand-dark-logo": PageAccess(CHANGERS, CHANGERS),
    "brand-dark-logo-remove": PageAccess(CHANGERS, CHANGERS),
    "brand-favicon": PageAccess(CHANGERS, CHANGERS),
    "brand-favicon-remove": PageAccess(CHANGERS, CHANGERS),
    "mail": PageAccess(ALL, NOBODY),
    "mail-sender": PageAccess(CHANGERS, CHANGERS),
    "mail-server": PageAccess(CHANGERS, CHANGERS),
    "mail-server-remove": PageAccess(CHANGERS, CHANGERS),
    "mail-test": PageAccess(NOBODY, CHANGERS),
    "mail-again": PageAccess(NOBODY, CHANGERS, failed_mail),
    "team": PageAccess(ALL, NOBODY),
    "team-invite": PageAccess(OWNERS, OWNERS),
    "team-two-factor": PageAccess(OWNERS, OWNERS),
    "invitation-again": PageAccess(NOBODY, OWNERS, invitation),
    "invitation-withdraw": PageAccess(NOBODY, OWNERS, invitation),
    "member": PageAccess(OWNERS, OWNERS, member),
    "member-remove": PageAccess(OWNERS, OWNERS, member),
    "help": PageAccess(ALL, NOBODY),
    "help-guide": PageAccess(ALL, NOBODY, guide),
    "activity": PageAccess(ALL, NOBODY),
    "notifications": PageAccess(ALL, NOBODY),
    "notifications-read": PageAccess(NOBODY, ALL),
    "notification-settings": PageAccess(ALL, ALL),
    "unread": PageAccess(ALL, NOBODY),
    "bulk-operations": PageAccess(ALL, NOBODY),
    "bulk-operation-new": PageAccess(CHANGERS, CHANGERS),
    "bulk-operation": PageAccess(ALL, NOBODY, bulk_operation),
    "bulk-operation-cancel": PageAccess(NOBODY, CHANGERS, bulk_operation),
    "exports": PageAccess(CHANGERS, NOBODY),
    "export-new": PageAccess(CHANGERS, CHANGERS),
    "export": PageAccess(CHANGERS, NOBODY, export),
    "export-cancel": PageAccess(NOBODY, CHANGERS, export),
    "export-file": PageAccess(CHANGERS, NOBODY, export),
    "sub-accounts": PageAccess(ALL, NOBODY),
    "sub-account-new": PageAccess(CHANGERS, CHANGERS),
    "sub-account": PageAccess(ALL, NOBODY, workspace),
    "sub-account-edit": PageAccess(CHANGERS, CHANGERS, workspace),
    "sub-account-suspend": PageAccess(CHANGERS, CHANGERS, workspace),
    "sub-account-restore": PageAccess(NOBODY, CHANGERS, workspace),
    "sub-account-activity": PageAccess(ALL, NOBODY, workspace),
    "sub-account-owner": PageAccess(CHANGERS, CHANGERS, workspace),
    "sub-account-owner-invite": PageAccess(NOBODY, CHANGERS, workspace),
    "sub-account-plan": PageAccess(CHANGERS, CHANGERS, workspace),
    "sub-account-addons": PageAccess(NOBODY, CHANGERS, workspace),
    "sub-account-addon-revoke": PageAccess(CHANGERS, CHANGERS, held_addon),
    "sub-account-channel-disconnect": PageAccess(CHANGERS, CHANGERS, channel),
    "sub-account-open": PageAccess(NOBODY, ALL, workspace),
}
# The way to another agency has no role and stays open where the chosen agency is closed: test_switching.py.
ELSEWHERE = {"switch"}
# Pages of higher apps have tables of their own beside them. Who has no role there: tests/test_page_access.py.
HIGHER = ("webhook", "pack", "channel-connect", "broadcast", "ai-", "finance")


def address(name: str, ids: list[Any]) -> str:
    return reverse(f"console:{name}", args=ids)


def test_the_table_names_every_page_of_the_console() -> None:
    _, resolver = get_resolver().namespace_dict["console"]
    names = {name for name in resolver.reverse_dict if isinstance(name, str)}
    assert {name for name in names if not name.startswith(HIGHER)} == PAGES.keys() | ELSEWHERE


@pytest.fixture(scope="module")
def all_ids(furnished_until_end: tuple[bytes, ...], django_db_blocker: DjangoDbBlocker) -> tuple[Ids, Ids]:
    """What every page is about, of either agency: made once for all tests of the module."""
    own, foreign = map(loaded, furnished_until_end)
    with django_db_blocker.unblock():
        return ids_of_both(own, foreign, {name: access.ids for name, access in PAGES.items()})


@pytest.fixture
def paths(all_ids: tuple[Ids, Ids]) -> dict[str, str]:
    """The address of every page."""
    return {name: address(name, ids) for name, ids in all_ids[0].items()}


def seen(access: PageAccess, role: str) -> int:
    """What looking at a page is answered with."""
    return 200 if role in access.looks else 403 if access.looks else 302


def changed(access: PageAccess, role: str) -> set[int]:
    """What posting to a page may be answered with."""
    if (role == "viewer" and role not in access.posts) or (access.posts and role not in access.posts):
        return {403}
    return {302, 422} if access.posts else {403, 405}


ROLES = tuple(sorted(ALL))


def asks_something(path: str) -> bool:
    view: Any = view_of(path)
    bases = [base for one in view.__mro__ for base in getattr(one, "__orig_bases__", ())]
    return issubclass(view, FormView) and not any(ConfirmationForm in get_args(base) for base in bases)


def test_each_page_declares_what_the_table_says(paths: dict[str, str]) -> None:
    """So one page of each declaration shows what all others refuse (tests/test_page_access.py says the rest)."""
    views: dict[str, Any] = {name: view_of(path) for name, path in paths.items()}
    assert {name for name, view in views.items() if hasattr(view, "post")} == {
        n for n, one in PAGES.items() if one.posts
    }
    assert {name for name, view in views.items() if hasattr(view, "get")} == {
        n for n, one in PAGES.items() if one.looks
    }
    changers = {name: set(views[name].writers) for name, page in PAGES.items() if page.posts}
    assert changers == {name: PAGES[name].posts for name in changers}
    shown = {name: view for name, view in views.items() if hasattr(view, "get")}
    openers = {name: set(view.writers) if view.writers_only else ALL for name, view in shown.items()}
    assert openers == {name: PAGES[name].looks for name in openers}


def asked_of(role: str, paths: dict[str, str], open_to: Callable[[PageAccess], set[str]]) -> dict[str, str]:
    """Give what a role asks for: its turns, one page of each declaration, and a viewer all that is open to it.

    An owner and an admin see and change the same on a page that is open to both, so one of them asks.
    """
    open_paths = {name: path for name, path in paths.items() if role in open_to(PAGES[name])}
    closed = {name: path for name, path in paths.items() if name not in open_paths}
    alike = {name: path for name, path in open_paths.items() if open_to(PAGES[name]) >= CHANGERS}
    own = {name: path for name, path in open_paths.items() if name not in alike}
    turns = alike if role == "viewer" else in_turns(("admin", "owner"), alike)[role]
    return own | turns | one_of_each_check(ROLES, closed)[role]


@pytest.mark.parametrize("role", ROLES)
def test_each_role_sees_the_pages_that_are_for_it(role: str, a: Tenant, paths: dict[str, str]) -> None:
    asked = asked_of(role, paths, lambda page: page.looks)
    found = statuses(at_the_console(a.agency, role), "get", asked)
    assert found == {name: seen(PAGES[name], role) for name in asked}


@pytest.mark.parametrize("role", ROLES)
def test_each_role_changes_what_it_may_and_a_viewer_nothing(role: str, a: Tenant, paths: dict[str, str]) -> None:
    """tests/test_refused_forms.py has an owner send every form, so here one of each declaration is sent by a role."""
    forms = {name: path for name, path in paths.items() if PAGES[name].posts >= CHANGERS and asks_something(path)}
    others = {name: path for name, path in paths.items() if name not in forms}
    asked = asked_of(role, others, lambda page: page.posts) | one_of_each_check(ROLES, forms)[role]
    found = statuses(at_the_console(a.agency, role), "post", asked)
    assert {name: status for name, status in found.items() if status not in changed(PAGES[name], role)} == {}


def test_another_agency_s_and_malformed_ids_read_like_ids_that_nobody_has(
    a: Tenant, b: Tenant, all_ids: tuple[Ids, Ids]
) -> None:
    browser = at_the_console(a.agency, "owner")
    assert unlike_unknown_ids(browser, all_ids[1], address, b.mark, own=all_ids[0]) == []
