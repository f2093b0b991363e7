"""The documents and their pages; no key is needed, and nothing comes from another host."""

from collections.abc import Callable
from functools import wraps

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.csrf import csrf_exempt

from config.api.documents.building import AGENCY, WORKSPACE, Document, written
from config.api.responses.json import CONTENT_TYPE, error_response

View = Callable[[HttpRequest], HttpResponse]
ALLOWED = ("GET", "HEAD")
# Swagger UI writes style attributes; everything else is as strict as on any page.
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


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


def _page_view(document: Document) -> View:
    @_read_only
    def show_document(request: HttpRequest) -> HttpResponse:
        page = render(request, "api/docs.html", {"document": document})
        page["Content-Security-Policy"] = CONTENT_SECURITY_POLICY
        page["Cache-Control"] = "no-store"
        return page

    return show_document


agency_document, workspace_document = _document_view(AGENCY), _document_view(WORKSPACE)
agency_page, workspace_page = _page_view(AGENCY), _page_view(WORKSPACE)
