"""The page to which the provider sends the browser back. It redirects at once, so that codes leave the address bar.

The provider knows a single address, on the installation's own host. A session that began on its agency's host goes on
there, because the browser has its cookie for that host.
"""

from django.http import Http404, HttpRequest, HttpResponseBase
from django.urls import reverse

from agency.pages.branding import host_agency_id
from channelconnect.pages.concurrency import PROVIDER_CALLS
from channelconnect.pages.landing import SeeOther, StatusPage
from channelconnect.pages.surface import callback_address
from channelconnect.services import AuthorizationResponse, complete_authorization, session_by_state
from channelconnect.services.sessions.forwarding import PARAMETER, forwarded_response, forwarding_address

AGAIN_SECONDS = 2


class Callback(StatusPage):
    """The only GET that changes a session. A repeated parameter counts as missing: parsers may disagree on it."""

    http_method_names = ["get", "head"]

    def get(self, request: HttpRequest) -> HttpResponseBase:
        response = self._response()
        session = self.require_session(session_by_state(response.state))
        if host_agency_id(request) is None:
            elsewhere = forwarding_address(session, response, path=request.path)
            if elsewhere:
                return SeeOther(elsewhere)
        with PROVIDER_CALLS.slot() as is_free:
            if not is_free:
                page = self.page("channelconnect/in_progress.html", status=503)
                page.headers["Refresh"] = str(AGAIN_SECONDS)
                return page
            complete_authorization(
                session=session,
                browser=self.browser,
                response=response,
                redirect_uri=callback_address(),
                now=self.now,
                by=self.by,
            )
        return self.leave(reverse("connect:session", args=[session.uuid]))

    def head(self, request: HttpRequest) -> HttpResponseBase:
        """Show a page without changing anything."""
        self.require_session(session_by_state(self._response().state))
        return self.page("channelconnect/in_progress.html")

    def _response(self) -> AuthorizationResponse:
        """Return the provider's response. An agency's host accepts only a response that our own host has forwarded."""
        if host_agency_id(self.request) is None:
            is_declined = self._parameter("error") == "access_denied"
            return AuthorizationResponse(self._parameter("state"), self._parameter("code"), is_declined=is_declined)
        response = forwarded_response(self._parameter(PARAMETER))
        if response is None:
            raise Http404
        return response

    def _parameter(self, name: str) -> str:
        values = self.request.GET.getlist(name)
        return values[0] if len(values) == 1 else ""
