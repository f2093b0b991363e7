"""Where the secret link leads: who asks, for what, and the choice to continue or to cancel. Looking changes nothing."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import redirect

from channelconnect.models import ConnectSession
from channelconnect.models.sessions import Status
from channelconnect.pages.outcome import outcome_words
from channelconnect.pages.surface import ConnectPage, callback_address, remember_browser
from channelconnect.services import (
    NotNow,
    decline,
    depart,
    is_bound_to,
    refuse_other_browser,
    return_host,
    session_of_id,
    session_of_link,
    status_at,
)
from channelconnect.services.finding import new_secret

SEE_OTHER = 303


class SeeOther(HttpResponseRedirect):
    """The answer to a form: look there, with GET."""

    status_code = SEE_OTHER


class AskingPage(ConnectPage):
    """Shows where a session is while the customer has nothing to choose yet, or nothing any more."""

    def asking(self) -> HttpResponse:
        """Who asks and for what, with Continue and Cancel; the browser gets its cookie, which binds nothing yet."""
        page = self.page("connect/landing.html", return_host=return_host(self.session), here=self.request.path)
        remember_browser(page, self.browser or new_secret())
        return page

    def outcome(self) -> HttpResponse:
        return self.page("connect/outcome.html", **outcome_words(self.session, self.now))


class Landing(AskingPage):
    def get(self, request: HttpRequest, link: str) -> HttpResponseBase:
        session = self.found(session_of_link(link))
        refuse_other_browser(session, self.browser)
        status, _ = status_at(session, self.now)
        if status in (Status.PENDING, Status.AUTHORIZING):
            return self.asking()
        if is_bound_to(session, self.browser):
            return redirect("connect:session", session.uuid)
        return self.outcome()


class Step(ConnectPage):
    """A form's target; afterwards the browser looks at the page it came from."""

    http_method_names = ["post"]

    def step(self, session: ConnectSession) -> HttpResponseBase:
        """Do what the button says. Each button has its own."""
        raise NotImplementedError


class ByLink(Step):
    def post(self, request: HttpRequest, link: str) -> HttpResponseBase:
        try:
            return self.step(self.found(session_of_link(link)))
        except NotNow:
            return SeeOther(request.path.rpartition("/")[0])


class ById(Step):
    """Clean addresses are no secret: they are only good in the browser that is bound."""

    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponseBase:
        session = self.found(bound_session(uuid))
        try:
            return self.step(session)
        except NotNow:
            return SeeOther(request.path.rpartition("/")[0])


def bound_session(uuid: UUID | None) -> ConnectSession | None:
    """A session that a browser has continued; before that, only its link leads there."""
    session = session_of_id(uuid)
    return session if session and session.browser_digest is not None else None


class Continue(Step):
    """Binds the session to this browser and goes to the provider."""

    def step(self, session: ConnectSession) -> HttpResponseBase:
        departure = depart(
            session=session, browser=self.browser, redirect_uri=callback_address(), now=self.now, by=self.by
        )
        response = SeeOther(departure.consent_url)
        remember_browser(response, departure.browser)
        return response


class Cancel(Step):
    """Ends the session as the customer wishes."""

    def step(self, session: ConnectSession) -> HttpResponseBase:
        decline(session=session, browser=self.browser, now=self.now, by=self.by)
        return SeeOther(self.request.path.rpartition("/")[0])


class ContinueLink(Continue, ByLink):
    pass


class CancelLink(Cancel, ByLink):
    pass


class ContinueSession(Continue, ById):
    pass


class CancelSession(Cancel, ById):
    pass
