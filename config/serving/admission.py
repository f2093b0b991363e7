"""Decides which large bodies are read: those for a known path, from a sender who may send one."""

from collections.abc import Callable

from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.urls import Resolver404, ResolverMatch, resolve

from config.api.keys import presented_key
from config.api.surface import NEGOTIATION, JSONRequest, SurfaceView
from config.request_bodies import ADMITTED, body_rules
from config.serving.large_bodies import ASKS
from config.serving.middleware import is_api


class BodyAdmission:
    """Tells the web server whether to read a body. If not, the client gets the answer to a request without the body."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if ASKS not in request.META:
            return self.get_response(request)
        try:
            match = resolve(request.path_info, urlconf=getattr(request, "urlconf", None))
        except Resolver404:
            return self.get_response(request)
        if body_rules.of(request.path_info).signed_in and not request.user.is_authenticated:
            return _answer_unread(request, match)
        is_wanted = _has_known_key(request, match) if is_api(request) else _takes_post(match)
        if is_wanted:
            return HttpResponse(headers={ADMITTED: "yes"})
        return self.get_response(request)  # whose view refuses it, or the unread body


def _has_known_key(request: HttpRequest, match: ResolverMatch) -> bool:
    view_class = getattr(match.func, "cls", None)
    if not (isinstance(view_class, type) and issubclass(view_class, SurfaceView)):
        return False
    view = view_class()
    view.request = JSONRequest(request, negotiator=NEGOTIATION)
    lookup = view.look_up_key(presented_key(request))
    return lookup.switched_on and lookup.caller is not None


def _takes_post(match: ResolverMatch) -> bool:
    view_class = getattr(match.func, "view_class", None)
    return view_class is None or hasattr(view_class, "post")


def _answer_unread(request: HttpRequest, match: ResolverMatch) -> HttpResponseBase:
    """Return the view's own answer to a sender who has not signed in, else a redirect to the sign-in page."""
    request.resolver_match = match
    answer: Callable[[HttpRequest], HttpResponseBase] | None
    answer = getattr(getattr(match.func, "view_class", None), "answer_unread", None)
    return answer(request) if answer else redirect_to_login(request.get_full_path())
