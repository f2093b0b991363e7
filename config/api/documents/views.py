"""The documents and their pages; no key is needed, and nothing comes from another host."""

import json
from collections.abc import Callable
from functools import lru_cache, wraps

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.gzip import gzip_page

from config.api.documents.building import AGENCY, WORKSPACE, Document, written
from config.api.documents.reference.building import ReferenceBuilder
from config.api.documents.reference.samples import LANGUAGES
from config.api.responses.json import CONTENT_TYPE, error_response

View = Callable[[HttpRequest], HttpResponse]
ALLOWED = ("GET", "HEAD")


def _read_only(view: View) -> View:
    @csrf_exempt
    @wraps(view)
    def guarded(request: HttpRequest) -> HttpResponse:
        if request.method in ALLOWED:
            return view(request)
        allow = ", ".join(ALLOWED)
        return error_response(405, f'Method "{request.method}" not allowed.', headers={"Allow": allow})

    return guarded


def _document_view(document: Document) -> View:
    @_read_only
    def serve_document(request: HttpRequest) -> HttpResponse:
        answer = HttpResponse(written(document, str(settings.ROOT_URLCONF)), content_type=CONTENT_TYPE)
        answer["Cache-Control"] = "no-store"
        return answer

    return serve_document


@lru_cache(maxsize=8)
def _page(document: Document, urlconf: str, only: str) -> str:
    """Write the page that shows a document; like the document it is the same for everybody.

    Large sections stand on pages of their own.
    """
    apart = {} if only else document.apart
    reference = ReferenceBuilder(json.loads(written(document, urlconf))).build(leaving_out=apart.values(), only=only)
    context = {"document": document, "documents": (AGENCY, WORKSPACE), "reference": reference, "languages": LANGUAGES}
    return render_to_string("api/reference.html", {**context, "only": only, "apart": apart})


def _page_view(document: Document, only: str = "") -> View:
    @_read_only
    @gzip_page
    def show_document(request: HttpRequest) -> HttpResponse:
        page = HttpResponse(_page(document, str(settings.ROOT_URLCONF), only))
        page["Cache-Control"] = "no-store"
        return page

    return show_document


agency_document, workspace_document = _document_view(AGENCY), _document_view(WORKSPACE)
agency_page, workspace_page = _page_view(AGENCY), _page_view(WORKSPACE)
workspace_pages = {slug: _page_view(WORKSPACE, section) for slug, section in WORKSPACE.apart.items()}
