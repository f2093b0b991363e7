"""A list of the admin can be narrowed by what it declares, and by nothing else that a table holds."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.admin.utils import get_fields_from_path
from django.contrib.auth.models import Permission
from django.db import models
from django.test import Client

from agency.admin.base import RestrictedLookups
from agency.models import User
from config.encryption import EncryptedTextField

pytestmark = [pytest.mark.slow, pytest.mark.django_db]
PAGES = admin.site._registry
# Lists that Django's own view makes; the switches' page has a view of its own and no look-ups.
LISTS = [model for model in PAGES if model._meta.model_name != "switch"]
SECRETS = {"password", "key_hash", "secret", "token", "body", "context", "session_data"}


def columns(model: type[models.Model], depth: int = 2) -> Iterator[str]:
    """Every column that an address could name, of the table and of those that it leads to."""
    for field in model._meta.get_fields():
        name = field.name if not field.auto_created or field.concrete else getattr(field, "related_query_name", "")
        name = name() if callable(name) else name
        if getattr(field, "remote_field", None) is None and field.concrete:
            yield name
        elif depth and field.related_model and field.related_model is not model:
            yield from (f"{name}__{column}" for column in columns(field.related_model, depth - 1))


def test_only_declared_lookups_are_taken(support: Client) -> None:
    request = support.get("/admin/").wsgi_request
    for model in LISTS:
        page: Any = PAGES[model]
        named = [*columns(model)]
        tried = [f"{column}{lookup}" for column in named for lookup in ("", "__startswith", "__regex", "__gt")]
        assert tried, model
        taken = {one for one in tried if page.lookup_allowed(one, "a", request)}
        filters = page.get_list_filter(request)
        parameters = {one.parameter_name for one in filters if not isinstance(one, str)}
        declared = {one for one in filters if isinstance(one, str)}
        assert (model, {one.split("__")[0] for one in taken - parameters} - declared) == (model, set())
        path = f"/admin/{model._meta.app_label}/{model._meta.model_name}/"
        secret = [f"{column}__startswith" for column in named if column.split("__")[-1] in SECRETS]
        assert taken.isdisjoint(secret), model
        for one in secret[:1]:  # `taken` has said it of each; the list asks the page
            assert support.get(path, {one: "p"}).status_code == 400, (path, one)


def test_a_search_reaches_no_secret() -> None:
    for model in LISTS:
        for path in PAGES[model].search_fields:
            last: Any = get_fields_from_path(model, path.strip("^=@"))[-1]
            assert not isinstance(last, models.BinaryField | EncryptedTextField | models.JSONField), (model, path)
            assert last.name not in SECRETS, (model, path)


def test_every_page_of_the_admin_has_the_rule() -> None:
    assert [model for model, page in PAGES.items() if not isinstance(page, RestrictedLookups)] == []


def test_staff_who_see_people_read_no_hash_letter_by_letter(
    person: Callable[..., User], sign_in: Callable[[User], Client]
) -> None:
    colleague = person(is_staff=True)
    names = ("view_user", "view_member", "view_group", "view_agencykey")
    colleague.user_permissions.set(Permission.objects.filter(codename__in=names))
    browser = sign_in(colleague)
    assert browser.get("/admin/agency/user/").status_code == 200
    for address in (
        "agency/user/?password__startswith=md5",
        "agency/user/?password=md5",
        "agency/user/?user_permissions__user__password__startswith=md5",
        "agency/member/?user__password__startswith=md5",
        "agency/member/?agency__keys__key_hash__gt=a",
        "agency/agencykey/?key_hash__gt=a",
        "auth/group/?user__password__startswith=md5",
    ):
        answer = browser.get(f"/admin/{address}")
        assert (address, answer.status_code) == (address, 400)
    found = browser.get("/admin/agency/user/", {"q": colleague.password[:8]})
    assert found.context["cl"].result_count == 0
    assert browser.get("/admin/agency/user/", {"is_staff__exact": "1"}).context["cl"].result_count == 1
