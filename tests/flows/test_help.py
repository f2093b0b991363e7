"""The help: each page leads to the guide for it, and each guide can be read in every language."""

from typing import Any

import pytest
from django.conf import settings
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.test import Client
from django.urls import ResolverMatch, get_resolver, reverse
from django.utils import translation
from django.utils.html import escape
from PIL import Image

from agency.pages.help import CONSOLE, DASHBOARD, MENUS, SUPPORT, Guide, guides, guides_of, help_url, picture_of
from tests.agency.console.browsers import at_the_console
from tests.factories import WorkspaceFactory
from tests.flows.guide_pictures.shots import SHOTS
from tests.flows.white_label.addresses import names_in
from tests.workspaces.subaccounts.dashboard.clients import dashboard_client
from workspaces.subaccounts.models import Workspace

# They lead into a workspace or an agency and have no frame with a link to the help.
WITHOUT_A_GUIDE = {"choose", "leave", "switch", "help", "help-guide"}
LANGUAGES = [code for code, _ in settings.LANGUAGES]
STATIC = settings.BASE_DIR / "templates" / "static"
LARGEST_PICTURE, ALL_PICTURES = 30_000, 3_000_000
LINK = '<a class="help-link" href="{}">'


@pytest.fixture
def workspace(db: None) -> Workspace:
    return WorkspaceFactory.create()


def guide_to(area: str, page: str, nav: str = "") -> str:
    request = HttpRequest()
    request.resolver_match = ResolverMatch(lambda: None, (), {}, url_name=page)
    return help_url(area, request, nav)


@pytest.mark.parametrize("area", [CONSOLE, DASHBOARD])
def test_each_page_of_a_menu_has_one_guide_and_each_guide_s_pages_exist(area: str) -> None:
    explained = [page for guide in guides_of(area) for page in guide.pages]
    assert sorted(explained) == sorted({*explained})
    assert {*explained} <= names_in(area)
    in_menu = [entry.url_name.removeprefix(f"{area}:") for entry in MENUS[area]]
    lists = {page for page in in_menu if guide_to(area, page) == reverse(f"{area}:help")}
    assert lists == set()


@pytest.mark.parametrize("area", [CONSOLE, DASHBOARD])
def test_every_page_leads_to_a_guide_by_itself_or_by_its_entry_of_the_menu(area: str) -> None:
    _, resolver = get_resolver().namespace_dict[area]
    found = set()
    for name in names_in(area) - WITHOUT_A_GUIDE:
        view: Any = _view(resolver, name)
        if hasattr(view.view_class, "get"):
            nav = view.view_initkwargs.get("nav") or view.view_class.nav
            if guide_to(area, name, nav) == reverse(f"{area}:help"):
                found.add(name)
    assert found == set()


def _view(resolver: Any, name: str) -> Any:
    return next(one.callback for one in resolver.url_patterns if one.name == name)


@pytest.mark.parametrize("area", [CONSOLE, DASHBOARD, SUPPORT])
def test_guides_are_related_to_guides_of_their_readers_and_can_be_read_in_every_language(area: str) -> None:
    own = guides_of(area)
    slugs = {guide.slug for guide in own}
    assert {other for guide in own for other in guide.related} <= slugs
    assert [guide.slug for guide in own if guide.slug in guide.related] == []
    for language in LANGUAGES:
        with translation.override(language):
            texts = [render_to_string(guide.template, {"agency_name": "Corner & Co"}) for guide in own]
        assert all(2 <= one.count("<li>") <= 8 for one in texts)


def test_each_guide_has_a_small_picture_in_each_language_of_its_readers() -> None:
    wanted = {STATIC / guide.picture_file(language) for guide in guides for language in LANGUAGES}
    assert {file for file in (STATIC / "help").rglob("*") if file.is_file()} == wanted
    sizes = {file: file.stat().st_size for file in wanted}
    assert {file for file, size in sizes.items() if size > LARGEST_PICTURE} == set()
    assert sum(sizes.values()) <= ALL_PICTURES
    for guide in guides:
        assert len(str(guide.picture)) > 20, guide.name
        with translation.override("fr"), Image.open(STATIC / guide.picture_file("fr")) as opened:
            assert picture_of(guide) == (guide.picture_file("fr"), opened.width / 2, opened.height / 2)


def test_make_pictures_takes_a_picture_of_each_guide_with_numbers_of_its_steps() -> None:
    assert {(area, slug) for area, shots in SHOTS.items() for slug in shots} == {(one.area, one.slug) for one in guides}
    for guide in guides:
        steps = render_to_string(guide.template).partition("</ol>")[0].count("<li>")
        numbers = {int(number) for number in SHOTS[guide.area][guide.slug].steps}
        assert numbers, guide.name
        assert numbers <= {*range(1, steps + 1)}, guide.name


def markup(page: Any) -> str:
    content: str = page.content.decode()
    return content


def is_shown(browser: Client, guide: Guide, language: str) -> bool:
    page = browser.get(guide.url, headers={"Accept-Language": language})
    with translation.override(language):
        alternative = escape(str(guide.picture))
    picture = f'<img src="/static/{guide.picture_file(language)}" width="'
    parts = (f'<html lang="{language}"', picture, f'alt="{alternative}" loading="lazy"')
    return page.status_code == 200 and all(part in markup(page) for part in parts)


def in_turns(area: str) -> list[tuple[Guide, str]]:
    return [(guide, LANGUAGES[number % len(LANGUAGES)]) for number, guide in enumerate(guides_of(area))]


def test_agency_staff_read_the_guide_to_a_page_and_find_it_by_its_name(workspace: Workspace) -> None:
    viewer = at_the_console(workspace.agency, "viewer")
    page = viewer.get("/console/plans")
    assert LINK.format("/console/help/plans") in markup(page)
    guide = viewer.get("/console/help/plans")
    assert "Limits are copied when you give a plan." in markup(guide)
    assert '<a class="button" href="/console/add-ons">' in markup(guide)
    assert '<a class="button" href="/console/help/packs">' in markup(guide)
    assert "help-link" not in markup(guide)
    for one, language in in_turns(CONSOLE):
        assert is_shown(viewer, one, language), (one.slug, language)
    listed = markup(viewer.get("/console/help"))
    assert all(one.url in listed for one in guides_of(CONSOLE))
    assert "/app/help/" not in listed
    assert "/console/help/webhooks" in markup(viewer.get("/console/find?q=deliveries"))
    assert viewer.get("/console/help/inbox").status_code == 404


def test_customers_read_their_own_guides_with_the_name_of_their_agency(workspace: Workspace) -> None:
    owner = dashboard_client(workspace)
    assert LINK.format("/app/help/import") in markup(owner.get("/app/contacts/imports"))
    assert LINK.format("/app/help/contacts") in markup(owner.get("/app/contacts"))
    assert f"Ask {workspace.agency.name} for a link" in markup(owner.get("/app/help/channels"))
    for one, language in in_turns(DASHBOARD):
        assert is_shown(owner, one, language), (one.slug, language)
    listed = markup(owner.get("/app/help"))
    assert all(one.url in listed for one in guides_of(DASHBOARD))
    assert "/console/help/" not in listed
    assert owner.get("/app/help/plans").status_code == 404
    assert owner.get("/console/help/plans").status_code == 403


def test_guides_stand_in_three_areas_alone() -> None:
    assert {guide.area for guide in guides} == {CONSOLE, DASHBOARD, SUPPORT}
