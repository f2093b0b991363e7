"""Where the provider sends the browser back to; what it brought leaves the address at once."""

from django.http import HttpRequest, HttpResponseBase
from django.urls import reverse

from channelconnect.pages.landing import SeeOther
from channelconnect.pages.surface import ConnectPage, callback_address
from channelconnect.pages.turns import TURNS
from channelconnect.services import Answer, arrive, session_of_state

AGAIN_SECONDS = 2


class Callback(ConnectPage):
    """The one GET that moves a session. Words that come twice count as not sent: two parsers could differ on them."""

    http_method_names = ["get", "head"]

    def get(self, request: HttpRequest) -> HttpResponseBase:
        state = self._word("state")
        session = self.found(session_of_state(state))
        answer = Answer(state, self._word("code"), declined=self._word("error") == "access_denied")
        with TURNS.taken() as is_our_turn:
            if not is_our_turn:
                page = self.page("connect/working.html", status=503)
                page.headers["Refresh"] = str(AGAIN_SECONDS)
                return page
            arrive(
                session=session,
                browser=self.browser,
                answer=answer,
                redirect_uri=callback_address(),
                now=self.now,
                by=self.by,
            )
        return SeeOther(reverse("connect:session", args=[session.uuid]))

    def head(self, request: HttpRequest) -> HttpResponseBase:
        """Look without taking anything."""
        self.found(session_of_state(self._word("state")))
        return self.page("connect/working.html")

    def _word(self, name: str) -> str:
        values = self.request.GET.getlist(name)
        return values[0] if len(values) == 1 else ""
