"""Where the secret link leads: who asks, for what, and the choice to continue or to cancel. Looking changes nothing."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import redirect

from agency.pages.branding.host import agencys_host
from channelconnect.models import ConnectSession
from channelconnect.models.sessions import Status
from channelconnect.pages.outcome import address_to_leave_for, outcome_context
from channelconnect.pages.surface import ConnectPage, callback_address, remember_browser
from channelconnect.services import (
    WrongStatus,
    decline_session,
    is_bound_to,
    require_active_tenant,
    require_same_browser,
    return_host,
    session_by_id,
    session_by_link,
    start_authorization,
    status_at,
)
from channelconnect.services.sessions.secrets import new_secret

SEE_OTHER = 303


class SeeOther(HttpResponseRedirect):
    """The answer to a form: look there, with GET."""

    status_code = SEE_OTHER


class StatusPage(ConnectPage):
    """Shows where a session is while the customer has nothing to choose yet, or nothing any more."""

    def show_landing(self) -> HttpResponse:
        """Who asks and for what, with Continue and Cancel; the browser gets its cookie, which binds nothing yet."""
        page = self.page("channelconnect/landing.html", return_host=return_host(self.session), path=self.request.path)
        remember_browser(page, self.browser or new_secret())
        return page

    def show_outcome(self) -> HttpResponse:
        """What became of the session, with the way back; an end that is to be read leads back by itself in a while."""
        is_bound = is_bound_to(self.session, self.browser)
        context = outcome_context(self.session, self.now, is_bound=is_bound)
        page = self.page("channelconnect/outcome.html", **context)
        if context["return_seconds"]:
            page.headers["Refresh"] = f"{context['return_seconds']}; url={context['return_url']}"
        return page

    def leave(self, address: str) -> HttpResponse:
        """Send the browser back where the session has ended with nothing to read, else to this page of ours."""
        return SeeOther(address_to_leave_for(self.session, self.now) or address)


class Landing(StatusPage):
    def get(self, request: HttpRequest, link: str) -> HttpResponseBase:
        session = self.require_session(session_by_link(link))
        require_same_browser(session, self.browser)
        status, _ = status_at(session, self.now)
        if status in (Status.PENDING, Status.AUTHORIZING):
            require_active_tenant(session)
            return self.show_landing()
        if is_bound_to(session, self.browser):
            return redirect("connect:session", session.uuid)
        return self.show_outcome()


class ActionView(StatusPage):
    """A form's target; afterwards the browser looks at the page it came from, or is on its way back."""

    http_method_names = ["post"]

    def go_on(self) -> HttpResponse:
        return self.leave(self.request.path.rpartition("/")[0])

    def act(self, session: ConnectSession) -> HttpResponseBase:
        """Do what the button says. Each button has its own."""
        raise NotImplementedError


class ByLink(ActionView):
    def post(self, request: HttpRequest, link: str) -> HttpResponseBase:
        try:
            return self.act(self.require_session(session_by_link(link)))
        except WrongStatus:
            return self.go_on()


class ById(ActionView):
    """Clean addresses are no secret: they are only good in the browser that is bound."""

    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponseBase:
        session = self.require_session(bound_session(uuid))
        try:
            return self.act(session)
        except WrongStatus:
            return self.go_on()


def bound_session(uuid: UUID | None) -> ConnectSession | None:
    """A session that a browser has continued; before that, only its link leads there."""
    session = session_by_id(uuid)
    return session if session and session.browser_digest is not None else None


class Continue(ActionView):
    """Binds the session to this browser and goes to the provider."""

    def act(self, session: ConnectSession) -> HttpResponseBase:
        consent = start_authorization(
            session=session,
            browser=self.browser,
            redirect_uri=callback_address(),
            now=self.now,
            by=self.by,
            host=agencys_host(self.request),
        )
        response = SeeOther(consent.consent_url)
        remember_browser(response, consent.browser)
        return response


class Cancel(ActionView):
    """Ends the session as the customer wishes."""

    def act(self, session: ConnectSession) -> HttpResponseBase:
        decline_session(session=session, browser=self.browser, now=self.now, by=self.by)
        return self.go_on()


class ContinueLink(Continue, ByLink):
    pass


class CancelLink(Cancel, ByLink):
    pass


class ContinueSession(Continue, ById):
    pass


class CancelSession(Cancel, ById):
    pass
