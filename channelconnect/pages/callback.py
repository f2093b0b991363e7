"""Where the provider sends the browser back to; what it brought leaves the address at once."""

from django.http import HttpRequest, HttpResponseBase
from django.urls import reverse

from channelconnect.pages.concurrency import PROVIDER_CALLS
from channelconnect.pages.landing import StatusPage
from channelconnect.pages.surface import callback_address
from channelconnect.services import AuthorizationResponse, complete_authorization, session_by_state

AGAIN_SECONDS = 2


class Callback(StatusPage):
    """The one GET that moves a session. A parameter that comes twice counts as not sent: parsers could differ on it."""

    http_method_names = ["get", "head"]

    def get(self, request: HttpRequest) -> HttpResponseBase:
        state = self._parameter("state")
        session = self.require_session(session_by_state(state))
        response = AuthorizationResponse(
            state, self._parameter("code"), is_declined=self._parameter("error") == "access_denied"
        )
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
        """Look without taking anything."""
        self.require_session(session_by_state(self._parameter("state")))
        return self.page("channelconnect/in_progress.html")

    def _parameter(self, name: str) -> str:
        values = self.request.GET.getlist(name)
        return values[0] if len(values) == 1 else ""
