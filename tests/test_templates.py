"""Template files and the references to them."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib import admin
from django.template import TemplateDoesNotExist
from django.template.loader import get_template

from agency.models import Mail
from agency.pages.help import guides
from agency.services.mail.content import template_of

FOLDER = settings.BASE_DIR / "templates"
NAME = re.compile(r"(?:\w+/)+\w+\.(?:html|txt|typ)")
SUFFIXES = (".html", ".txt", ".typ")
# A constant name; names in variables are found in the code.
TAG = re.compile(r"""{% (?:extends|include) (["']\S+)""")
ADMIN_PAGES = ("change_form", "change_list", "delete_confirmation", "object_history")
LARGEST_FOLDER = 15


@cache
def template_names() -> list[str]:
    files = (file for file in FOLDER.rglob("*.*") if file.relative_to(FOLDER).parts[0] != "static")
    return sorted(file.relative_to(FOLDER).as_posix() for file in files)


def sources() -> Iterator[Path]:
    """Give the product's modules."""
    for app in ("agency", "broadcasts", "channelconnect", "config", "packs", "webhooks", "workspaces"):
        yield from (settings.BASE_DIR / app).rglob("*.py")


def named_in_code() -> Iterator[str]:
    for text in (source.read_text() for source in sources()):
        if not any(suffix in text for suffix in SUFFIXES):
            continue  # most modules name no template, and parsing takes time
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and NAME.fullmatch(node.value):
                yield node.value


def named_in_templates() -> Iterator[str]:
    for name in template_names():
        for argument in TAG.findall((FOLDER / name).read_text()):
            yield argument.strip("\"'")


@cache
def referenced() -> frozenset[str]:
    """Give the names in code and in tags; those of e-mails and guides are composed from their kinds and slugs."""
    mails = [template_of(kind, part=part) for kind in Mail.Kind.values for part in ("", "subjects/")]
    return frozenset([*named_in_code(), *named_in_templates(), *mails, *(guide.template for guide in guides)])


def overrides_of_the_admin() -> frozenset[str]:
    """Give pages for one model or a whole app, which Django's admin finds by their names."""
    models = [model._meta for model in admin.site._registry]
    folders = {part for meta in models for part in (meta.app_label, f"{meta.app_label}/{meta.model_name}")}
    return frozenset(f"admin/{folder}/{page}.html" for folder in folders for page in ADMIN_PAGES)


def exists(name: str) -> bool:
    try:
        get_template(name)
    except TemplateDoesNotExist:
        return False
    return True


def test_every_template_that_is_named_exists() -> None:
    assert {name for name in referenced() if not exists(name)} == set()


def test_every_template_is_named_somewhere() -> None:
    assert set(template_names()) - referenced() - overrides_of_the_admin() == set()


@pytest.mark.parametrize("name", template_names())
def test_every_template_compiles_with_the_libraries_that_it_loads(name: str) -> None:
    get_template(name)


def test_no_folder_of_templates_is_long() -> None:
    folders = [Path(name).parent for name in template_names()]
    assert {folder for folder in folders if folders.count(folder) > LARGEST_FOLDER} == set()


def extended_by(name: str) -> str:
    """Name the template that this one extends; empty if it extends none or names it by a variable."""
    found = re.search(r'{% extends "([^"]+)" %}', (FOLDER / name).read_text())
    return found[1] if found else ""


def test_a_list_is_declared_in_few_lines() -> None:
    lists, found = set[str](), {"pages/tables/list.html"}
    while found:
        lists |= found
        found = {name for name in template_names() if extended_by(name) in lists} - lists
    assert {"webhooks/endpoints.html", "agency/domains.html", "channelconnect/sessions.html"} <= lists
    assert {name for name in lists if len((FOLDER / name).read_text().splitlines()) >= 40} == set()
