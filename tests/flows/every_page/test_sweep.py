"""A page is left out as long as nothing that it is made of has changed since the last whole sweep."""

import json
import os
import re
import sys
import threading
import tomllib
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from pathlib import Path
from typing import Final

import pytest
from django.conf import settings
from django.urls import reverse
from pytest_django.live_server_helper import LiveServer

from tests.agency.console.browsers import at_the_console
from tests.flows.every_page import dependencies
from tests.flows.every_page.dependencies import OTHER_LAYERS, PACKAGES, PAGE_LAYERS, Imports, Recorder
from tests.flows.every_page.pages import EVERY_PAGE
from tests.flows.every_page.record import LOCK, Record, Tree, files_changed_since, read_record, record_of, write_record
from tests.flows.every_page.sweep import IS_WHOLE
from tests.tenants import Tenant
from tests.waiting import PATIENCE_SECONDS
from tools.local import ROOT

HOOKS: Final = {f"{app}/hooks.py" for app in ("agency", "broadcasts", "channelconnect", "packs", "webhooks")} | {
    f"workspaces/{path.parent.name}/hooks.py" for path in (ROOT / "workspaces").glob("*/hooks.py")
}
LOOKING: Final = ("checks.js",)
PLAN: Final = ["agency/console/views/plans.py", "templates/frame.html", "templates/plan.html", "templates/static/a.css"]
TEAM: Final = ["agency/console/team.py", "templates/frame.html", "templates/static/a.css", "templates/team.html"]
PAGES: Final = {"console:plan": PLAN, "console:team": TEAM}
BOTH: Final = {*PAGES}
LOCKED: Final = "axe-playwright-python==1 \\\n    --hash=sha256:0\ndjango==5 \\\nredis==8 \\\nplaywright==1 \\\n"


def write(root: Path, name: str, content: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project of two pages."""
    for name in (*LOOKING, *PLAN, *TEAM, "agency/services/plans.py"):
        write(tmp_path, name, name)
    write(tmp_path, LOCK, LOCKED)
    return tmp_path


def tree_of(root: Path) -> Tree:
    return Tree(root, LOOKING)


def changed(record: Record, root: Path) -> set[str]:
    """Give the pages that are looked at again."""
    tree = tree_of(root)
    return {page for page in PAGES if record.has_changed(page, tree)}


def test_without_a_change_no_page_is_looked_at(root: Path) -> None:
    assert changed(record_of(PAGES, tree_of(root)), root) == set()


@pytest.mark.parametrize(
    ("name", "pages"),
    [
        ("templates/plan.html", {"console:plan"}),
        ("templates/frame.html", BOTH),
        ("templates/static/a.css", BOTH),
        ("agency/console/team.py", {"console:team"}),
        ("agency/services/plans.py", set()),
        ("checks.js", BOTH),
    ],
)
def test_a_changed_file_has_the_pages_looked_at_that_are_made_of_it(root: Path, name: str, pages: set[str]) -> None:
    record = record_of(PAGES, tree_of(root))
    write(root, name, "changed")
    assert changed(record, root) == pages


@pytest.mark.parametrize(
    ("package", "pages"), [("axe-playwright-python", BOTH), ("django", BOTH), ("playwright", BOTH), ("redis", set())]
)
def test_another_version_of_what_looks_at_pages_has_all_looked_at(root: Path, package: str, pages: set[str]) -> None:
    record = record_of(PAGES, tree_of(root))
    write(root, LOCK, LOCKED.replace(f"{package}==", f"{package}==2."))
    assert changed(record, root) == pages


VIEW: Final = '''"""A view."""
from dataclasses import dataclass
from typing import Any

from agency.pages.forms import PlanForm
from agency.pages.tables import Table as Rows
from agency.services.plans import Plan


@dataclass
class PlanPage:
    """A page."""

    most: int = 20

    def get(self, **ids: Any) -> Plan:
        """Show it."""
        rows = Rows(PlanForm, most=self.most)  # all of it
        return rows
'''


@pytest.mark.parametrize(
    ("old", "new", "pages"),
    [
        ("Show it.", "Show the plan.", set()),
        ("  # all of it", "", set()),
        ("ids: Any) -> Plan", "ids: object) -> None", set()),
        (
            "from typing import Any\n",
            "from typing import Any, TypedDict\n\nclass Row(TypedDict):\n    name: str\n",
            set(),
        ),
        ("import Plan\n", "import Plan, Catalogue\n", set()),
        ("import Plan\n", "import Plan\nif TYPE_CHECKING:\n    from agency.pages import PlanRow\n", set()),
        ("@dataclass\n", "Plans = list[PlanForm]\n\n@dataclass\n", set()),
        ("@dataclass\n", "MOST = LIMITS['plans']\n\n@dataclass\n", {"console:plan"}),
        ("rows = ", "rows: Rows = ", set()),
        ("return rows", 'return cast("Rows", rows)', set()),
        ("return rows", "return list(rows)", {"console:plan"}),
        ("most=self.most", "most=self.most + 1", {"console:plan"}),
        ("most: int = 20", "most: int = 21", {"console:plan"}),
        ("most: int", "most: ClassVar[int]", {"console:plan"}),
        ("most: int", "more: int", {"console:plan"}),
        ("agency.pages.forms", "agency.pages.fields", {"console:plan"}),
        ("@dataclass\n", "", {"console:plan"}),
        ("class PlanPage:", "class PlanPage", {"console:plan"}),
    ],
)
def test_code_is_compared_without_what_is_only_read(root: Path, old: str, new: str, pages: set[str]) -> None:
    write(root, PLAN[0], VIEW)
    record = record_of(PAGES, tree_of(root))
    assert VIEW.count(old) == 1
    write(root, PLAN[0], VIEW.replace(old, new))
    assert changed(record, root) == pages


def test_a_file_that_is_gone_has_its_pages_looked_at(root: Path) -> None:
    record = record_of(PAGES, tree_of(root))
    (root / "templates/team.html").unlink()
    assert changed(record, root) == {"console:team"}


def test_a_file_that_is_changed_during_a_sweep_is_named(root: Path) -> None:
    began = (root / "templates/team.html").stat().st_mtime_ns
    assert files_changed_since(began, TEAM, root, LOOKING) == []
    for name in ("templates/team.html", "checks.js"):
        os.utime(root / name, ns=(began + 1, began + 1))
    assert files_changed_since(began, TEAM, root, LOOKING) == ["checks.js", "templates/team.html"]


def test_a_page_that_was_never_swept_is_looked_at(root: Path) -> None:
    assert changed(record_of({"console:plan": PLAN}, tree_of(root)), root) == {"console:team"}
    assert changed(Record({}), root) == BOTH


def test_two_changes_that_were_swept_apart_are_looked_at_together(root: Path) -> None:
    """As after a merge, by whichever of the two records it kept for the page."""
    write(root, "templates/plan.html", "changed")
    one = record_of(PAGES, tree_of(root))
    write(root, "templates/plan.html", "templates/plan.html")
    write(root, "templates/frame.html", "changed")
    other = record_of(PAGES, tree_of(root))
    write(root, "templates/plan.html", "changed")
    assert "console:plan" in changed(one, root)
    assert "console:plan" in changed(other, root)


def test_a_page_that_lacks_what_most_have_is_read_as_it_was(root: Path, tmp_path: Path) -> None:
    record = record_of({**PAGES, "console (frame)": ["templates/frame.html"]}, tree_of(root))
    write_record(record, tmp_path / "swept.json")
    assert read_record(tmp_path / "swept.json") == record


def test_a_record_that_was_written_is_read_as_it_was(root: Path, tmp_path: Path) -> None:
    record = record_of({**PAGES, "app:home": ["templates/frame.html"]}, tree_of(root))
    write_record(record, tmp_path / "swept.json")
    read = read_record(tmp_path / "swept.json")
    assert read == record
    assert changed(read, root) == set()
    written = json.loads((tmp_path / "swept.json").read_text())
    assert written["console"]["files"] == ["templates/frame.html", "templates/static/a.css"]
    assert written["console"]["pages"]["console:plan"]["with"] == [
        "agency/console/views/plans.py",
        "templates/plan.html",
    ]


def test_without_a_record_nothing_was_swept(tmp_path: Path) -> None:
    assert read_record(tmp_path / "swept.json").pages == {}


def test_every_page_has_a_name_of_its_own() -> None:
    assert sorted(EVERY_PAGE) == sorted({*EVERY_PAGE})


@pytest.mark.skipif(IS_WHOLE, reason="the record is being made")
def test_the_record_names_no_page_that_is_gone() -> None:
    gone = read_record().pages.keys() - {*EVERY_PAGE}
    assert not gone, f"{', '.join(sorted(gone))} in swept.json: run `make sweep`, and commit what it wrote"


def test_of_every_layer_it_is_said_whether_it_makes_pages() -> None:
    """A new layer of the import contract has to be put with those that make pages, or with the others."""
    imports = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    inside = next(one for one in imports["contracts"] if one["name"].startswith("Inside an app"))["layers"]
    above_tasks = inside[: inside.index("(tasks)")]
    assert {name for layer in above_tasks for name in re.findall(r"\w+", layer)} == PAGE_LAYERS | OTHER_LAYERS
    assert {*PACKAGES} == {*imports["root_packages"]} - {"tools"}


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


def get(server: LiveServer, *paths: str, cookie: str = "") -> None:
    headers = {"Cookie": f"{settings.SESSION_COOKIE_NAME}={cookie}"} if cookie else {}
    connection = HTTPConnection(server.thread.host, server.thread.port, timeout=60)
    for path in paths:
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        answer.read()
        assert answer.status == 200, path
    connection.close()


@pytest.mark.django_db(transaction=True)
def test_a_page_is_made_of_what_its_requests_used(live_server: LiveServer, recorder: Recorder) -> None:
    with recorder.listening():
        get(live_server, "/account/password-reset/sent")
        with recorder.page("account:sign-in"):
            get(live_server, "/account/sign-in", "/static/console/base.css")
        get(live_server, "/account/password-reset", "/static/console/find.css")
    get(live_server, "/account/password-reset")
    assert recorder.pages == {"account:sign-in"}
    files = {*recorder.made_of("account:sign-in")}
    assert files >= {
        "templates/account/sign_in.html",
        "templates/pages/standalone_base.html",  # it extends
        "templates/pages/base.html",  # and that does, too
        "templates/pages/_field.html",  # it includes
        "templates/static/console/base.css",
        "agency/account/sign_in_views.py",  # its view
        "agency/account/forms.py",  # of which nothing runs when a field is declared
        "agency/pages/branding.py",  # in front of all views, and what every template may show
        "agency/templatetags/pages.py",
    }
    assert not {file for file in files if file.endswith("hooks.py") and not file.startswith("config/")}
    assert {*recorder.made_of("account:sign-in", with_hooks=True)} == files | HOOKS
    assert not {file for file in files if "/services/" in file or "/models/" in file or "/api/" in file}
    assert files.isdisjoint(
        {"templates/account/password_reset.html", "templates/static/console/find.css", "agency/account/urls.py"}
    )
    assert all((ROOT / file).is_file() for file in files)


class SignallingLock:
    """A lock that tells when somebody has to wait for it."""

    def __init__(self, has_met: threading.Event) -> None:
        self._lock, self._has_met = threading.Lock(), has_met

    def __enter__(self) -> None:
        if not self._lock.acquire(blocking=False):
            self._has_met.set()
            self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


@pytest.mark.django_db(transaction=True)
def test_two_requests_at_once_are_both_answered(
    live_server: LiveServer, recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python 3.11 raises RuntimeError where two threads change their profile functions at once."""
    have_met, changing = threading.Event(), threading.Lock()

    def set_profile(_: object) -> None:
        if not changing.acquire(blocking=False):
            have_met.set()
            raise RuntimeError
        assert have_met.wait(PATIENCE_SECONDS)
        changing.release()

    monkeypatch.setattr(dependencies, "PROFILE_LOCK", SignallingLock(have_met))
    monkeypatch.setattr(sys, "setprofile", set_profile)
    with recorder.listening(), recorder.page("account:sign-in"), ThreadPoolExecutor(2) as pool:
        asked = [pool.submit(get, live_server, f"/static/console/{name}.css") for name in ("base", "tokens")]
        for one in asked:
            one.result(PATIENCE_SECONDS)


@pytest.mark.django_db(transaction=True)
def test_a_page_to_which_apps_add_is_made_of_their_hooks(
    live_server: LiveServer, recorder: Recorder, a: Tenant
) -> None:
    """A page of the account leads back to what other apps say one belongs to; a menu alone does not count."""
    client = at_the_console(a.agency)
    with recorder.listening():
        for name in ("account:profile", "console:plans"):
            with recorder.page(name):
                get(live_server, reverse(name), cookie=client.cookies[settings.SESSION_COOKIE_NAME].value)
    assert {*recorder.made_of("account:profile")} >= HOOKS
    assert "templates/pages/console/_menu.html" in recorder.made_of("console:plans")
    assert HOOKS.isdisjoint(recorder.made_of("console:plans"))


def test_a_file_that_is_only_imported_counts(root: Path) -> None:
    """What a view imports, and what that imports, but not the other pages that hooks and routes import."""
    write(root, "agency/console/views/plans.py", "from agency.console import forms\nfrom agency.hooks import MENU\n")
    write(root, "agency/console/forms.py", "import agency.pages.words\nfrom agency.services.plans import create_plan\n")
    write(root, "agency/pages/words.py", "")
    write(root, "agency/hooks.py", "from agency.console.team import Team\n")
    assert Imports(root).with_imported(["agency/console/views/plans.py"]) == {
        "agency/console/forms.py",
        "agency/console/views/plans.py",
        "agency/hooks.py",
        "agency/pages/words.py",
    }


def test_tags_that_a_template_loads_count(recorder: Recorder) -> None:
    """A filter that remembers what it gave is not called again, and is not seen at work on a later page."""
    assert {*recorder.tags_of(["templates/account/invitations.html"])} == {"agency/templatetags/pages.py"}
