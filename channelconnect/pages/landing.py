"""The landing page of the secret link: who asks for what, with Continue and Cancel. Viewing it changes nothing."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import redirect

from agency.pages.branding import agency_host_name
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
    """A 303 after a form: the browser follows it with GET."""

    status_code = SEE_OTHER


class StatusPage(ConnectPage):
    """Shows a session's status before or after the customer's choice."""

    def show_landing(self) -> HttpResponse:
        """Show who asks for what, with Continue and Cancel. The browser gets its cookie, which binds nothing yet."""
        page = self.page("channelconnect/landing.html", return_host=return_host(self.session), path=self.request.path)
        remember_browser(page, self.browser or new_secret())
        return page

    def show_outcome(self) -> HttpResponse:
        """Show an outcome with the way back. If there is something to read, the browser returns after a while."""
        is_bound = is_bound_to(self.session, self.browser)
        context = outcome_context(self.session, self.now, is_bound=is_bound)
        page = self.page("channelconnect/outcome.html", **context)
        if context["return_seconds"]:
            page.headers["Refresh"] = f"{context['return_seconds']}; url={context['return_url']}"
        return page

    def leave(self, address: str) -> HttpResponse:
        """Send the browser back if the session has ended with nothing to read, otherwise to `address`."""
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
    """The target of a form. Afterwards the browser shows the form's page again, or returns to the agency."""

    http_method_names = ["post"]

    def go_on(self) -> HttpResponse:
        return self.leave(self.request.path.rpartition("/")[0])

    def act(self, session: ConnectSession) -> HttpResponseBase:
        """Do what the button says. Each button implements this."""
        raise NotImplementedError


class ByLink(ActionView):
    def post(self, request: HttpRequest, link: str) -> HttpResponseBase:
        try:
            return self.act(self.require_session(session_by_link(link)))
        except WrongStatus:
            return self.go_on()


class ById(ActionView):
    """A form addressed by the session's id. The address is no secret; it only works in the bound browser."""

    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponseBase:
        session = self.require_session(bound_session(uuid))
        try:
            return self.act(session)
        except WrongStatus:
            return self.go_on()


def bound_session(uuid: UUID | None) -> ConnectSession | None:
    """Return a session in which a browser has pressed Continue. Before that only its link leads to it."""
    session = session_by_id(uuid)
    return session if session and session.browser_digest is not None else None


class Continue(ActionView):
    """Binds the session to this browser and sends it to the provider."""

    def act(self, session: ConnectSession) -> HttpResponseBase:
        consent = start_authorization(
            session=session,
            browser=self.browser,
            redirect_uri=callback_address(),
            now=self.now,
            by=self.by,
            host=agency_host_name(self.request),
        )
        response = SeeOther(consent.consent_url)
        remember_browser(response, consent.browser)
        return response


class Cancel(ActionView):
    """Ends the session because the customer pressed Cancel."""

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
