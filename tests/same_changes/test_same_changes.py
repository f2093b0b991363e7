"""Each change of console and dashboard leaves the events and the activity of the API's call behind."""

import pytest
from django.urls import URLPattern, get_resolver

from tests import furnished
from tests.agency.console.browsers import text
from tests.routes import AGENCY, ROUTES, WORKSPACE
from tests.same_changes import console, dashboard
from tests.same_changes.changes import Change, Place
from tests.same_changes.console import CONSOLE
from tests.same_changes.dashboard import DASHBOARD
from tests.tenants import Tenant

a, b = furnished.a, furnished.b
pytestmark = pytest.mark.django_db
CHANGES = {
    **{f"console:{name}": change for name, change in CONSOLE.items()},
    **{f"app:{name}": change for name, change in DASHBOARD.items()},
}

# What programs alone change.
ONLY_CALLS = {
    f"POST {AGENCY}workspaces/<id:workspace>/api-keys": "a person does it in the dashboard",
    f"POST {AGENCY}workspaces/<id:workspace>/api-keys/<id:key>/roll": "a person does it in the dashboard",
    f"DELETE {AGENCY}workspaces/<id:workspace>/api-keys/<id:key>": "a person does it in the dashboard",
    f"DELETE {WORKSPACE}media/<id:media>": "files",
    f"POST {WORKSPACE}media": "files",
    f"POST {WORKSPACE}automations/<id:automation>/runs": "a person starts one by what happens to a contact",
    f"POST {WORKSPACE}broadcasts/preview": "changes nothing",
    f"POST {WORKSPACE}broadcasts/<id:broadcast>/preview": "changes nothing",
    f"POST {WORKSPACE}broadcasts/<id:broadcast>/test": "names contacts, whom a person types",
    f"POST {WORKSPACE}contacts/import": "rows; a person gives a file",
    f"POST {WORKSPACE}messages": "finds the conversation, which a person has open",
    f"POST {WORKSPACE}templates/sync": "asks a provider",
    f"PUT {WORKSPACE}conversations/settings": "settings that have no page",
    f"PUT {WORKSPACE}products/<id:product>": "a whole product anew; a person changes it",
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_page_s_change_is_the_api_s(name: str, a: Tenant, b: Tenant) -> None:
    change = CHANGES[name]
    by_page, by_call = (Place.of(tenant, change.prepare) for tenant in (a, b))
    before = change.rows(b)
    called = by_call.call(change)
    assert called.status_code in {200, 201, 202, 204}, called.content
    posted = by_page.post(name, change)
    assert posted.status_code in {200, 302}, (
        posted.status_code,
        text(posted).partition("Enter ")[2][:300] or text(posted)[-900:],
    )
    left, expected = by_page.left_behind(), by_call.left_behind()
    assert left == expected
    rows = change.rows(b)
    assert change.rows(a) == rows
    assert expected["activity"] or expected["events"] or rows != before, "it changes nothing"


@pytest.mark.parametrize(("namespace", "table"), [("console", CONSOLE), ("app", DASHBOARD)])
def test_each_form_is_compared_with_a_call_or_is_a_page_s_alone(namespace: str, table: dict[str, Change]) -> None:
    """A new page that changes something stands in a table, or in the list that says why it does not."""
    _, resolver = get_resolver().namespace_dict[namespace]
    patterns = [one for one in resolver.url_patterns if isinstance(one, URLPattern)]
    posts = {pattern.name for pattern in patterns if takes_posts(pattern)}
    alone = {"console": console.ONLY_PAGES, "app": dashboard.ONLY_PAGES}[namespace]
    assert posts == table.keys() | alone.keys()
    assert not table.keys() & alone.keys()
    assert all(alone.values())


def takes_posts(pattern: URLPattern) -> bool:
    view = getattr(pattern.callback, "view_class", None)
    return bool(pattern.name) and (view is None or hasattr(view, "post"))


def test_every_operation_that_writes_is_compared_with_a_page_or_is_a_program_s_alone() -> None:
    writes = {f"{method} {route}" for route, cases in ROUTES.items() for method in cases if method != "GET"}
    compared = {change.call for change in CHANGES.values()}
    assert compared <= writes
    assert writes - compared == ONLY_CALLS.keys()
