"""Support's help: the list of its guides, and each guide."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from agency.models import Agency
from agency.pages.help import SUPPORT, TITLE, guide_named, guides_of, related_guides


def guide_list_page(request: HttpRequest) -> HttpResponse:
    return _page(request, "admin/agency/help/list.html", title=TITLE, guides=guides_of(SUPPORT))


def guide_page(request: HttpRequest, slug: str) -> HttpResponse:
    guide = guide_named(SUPPORT, slug)
    related = related_guides(guide)
    return _page(request, "admin/agency/help/guide.html", title=guide.title, guide=guide, related=related)


def _page(request: HttpRequest, template: str, **context: Any) -> HttpResponse:
    return TemplateResponse(request, template, {**admin.site.each_context(request), "opts": Agency._meta, **context})
