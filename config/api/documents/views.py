"""The documents and their pages; no key is needed, and nothing comes from another host.

On an agency's host they are in its look, and say that the API is there.
"""

import json
from collections.abc import Callable
from functools import lru_cache, wraps

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.urls import path
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.gzip import gzip_page

from config.api.documents.building import AGENCY, WORKSPACE, Document, written
from config.api.documents.reference import ReferenceBuilder
from config.api.documents.samples import LANGUAGES
from config.api.requests import origin
from config.api.responses import CONTENT_TYPE, error_response

View = Callable[[HttpRequest], HttpResponse]
ALLOWED = ("GET", "HEAD")
# The marks in reference.html, each with the template that takes its place.
LOOKS = {b"<!--whose-->": "pages/look/_title.html", b"<!--look-->": "pages/look/_head.html"}


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
        body = _from(_base_url(request), written(document, str(settings.ROOT_URLCONF)))
        answer = HttpResponse(body, content_type=CONTENT_TYPE)
        answer["Cache-Control"] = "no-store"
        return answer

    return serve_document


def _base_url(request: HttpRequest) -> str:
    """Give where the API is for the reader: on the agency's host that was asked, else the installation's."""
    is_agencys = getattr(request, "host_agency_id", None) is not None
    return origin(request) if is_agencys else str(settings.PUBLIC_URL)


def _from(base_url: str, text: bytes) -> bytes:
    """Put an agency's host where the installation's was."""
    own = str(settings.PUBLIC_URL)
    return text if base_url == own else text.replace(own.encode(), base_url.encode())


@lru_cache(maxsize=8)
def _page(document: Document, urlconf: str, only: str) -> bytes:
    """Write the page that shows a document, the same for everybody but for the look, whose places are marked.

    Large sections stand on pages of their own.
    """
    apart = {} if only else document.apart
    reference = ReferenceBuilder(json.loads(written(document, urlconf))).build(leaving_out=apart.values(), only=only)
    context = {"document": document, "documents": (AGENCY, WORKSPACE), "reference": reference, "languages": LANGUAGES}
    return render_to_string("api/reference.html", {**context, "only": only, "apart": apart}).encode()


def _in_the_look_of(request: HttpRequest, page: bytes) -> bytes:
    """Write whose page it is into the places that are marked for it."""
    for mark, template in LOOKS.items():
        page = page.replace(mark, render_to_string(template, request=request).rstrip("\n").encode(), 1)
    return page


def _page_view(document: Document, only: str = "") -> View:
    @_read_only
    @gzip_page
    def show_document(request: HttpRequest) -> HttpResponse:
        body = _from(_base_url(request), _page(document, str(settings.ROOT_URLCONF), only))
        page = HttpResponse(_in_the_look_of(request, body))
        page["Cache-Control"] = "no-store"
        return page

    return show_document


agency_document, workspace_document = _document_view(AGENCY), _document_view(WORKSPACE)
agency_page, workspace_page = _page_view(AGENCY), _page_view(WORKSPACE)
workspace_pages = {slug: _page_view(WORKSPACE, section) for slug, section in WORKSPACE.apart.items()}


urlpatterns = [
    path("api/agency/v1/openapi.json", agency_document, name="agency-document"),
    path("api/v1/openapi.json", workspace_document, name="workspace-document"),
    path("api/docs/agency", agency_page, name="agency-docs"),
    path("api/docs/workspace", workspace_page, name="workspace-docs"),
    *(
        path(f"api/docs/workspace/{slug}", view, name=f"workspace-{slug}-docs")
        for slug, view in workspace_pages.items()
    ),
]
