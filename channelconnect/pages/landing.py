"""The pages of a session: its secret link with Continue and Cancel, its status, and its outcome.

Viewing the landing page changes nothing.
"""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import redirect
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from agency.pages.branding import agency_host_name
from channelconnect.models import ConnectSession
from channelconnect.models.sessions import OPEN, SessionStatus
from channelconnect.pages.base import ConnectPage, callback_address, remember_browser
from channelconnect.services.sessions.creation import new_secret, session_by_id, session_by_link
from channelconnect.services.sessions.ending import status_at
from channelconnect.services.sessions.flow import (
    WrongStatus,
    decline_session,
    is_bound_to,
    require_active_tenant,
    require_same_browser,
    start_authorization,
)
from channelconnect.services.settings import build_return_url, may_keep_business_app, return_host

Message = tuple[str | Promise, str | Promise]

# The time that people have to read an error before the browser returns by itself.
READING_SECONDS = 10
# Ends that tell the customer nothing new: it worked, or the agency or the customer cancelled.
NOTHING_TO_READ = (None, "authorization_not_completed")

STATUS_MESSAGES: dict[str, Message] = {
    SessionStatus.CONNECTED: (_("Connected"), _("You can now receive and send messages through it.")),
    SessionStatus.CANCELLED: (_("Cancelled"), _("Nothing was connected.")),
    SessionStatus.EXPIRED: (
        _("The link has expired"),
        _("You must finish a connection within 30 minutes. Ask for a new link."),
    ),
    SessionStatus.FAILED: (_("Could not connect"), _("Nothing was connected. Ask for a new link and try again.")),
}
ERROR_MESSAGES: dict[str, Message] = {
    "authorization_not_completed": (
        _("Cancelled"),
        _("You did not agree, so nothing was connected. You can ask for a new link at any time."),
    ),
    "required_permissions_missing": (
        _("A permission is missing"),
        _(
            "To send and receive messages, we need all the permissions that Meta lists. Ask for a new link "
            "and leave all of them selected."
        ),
    ),
    "no_eligible_accounts": (
        _("No account to connect"),
        _(
            "We found no number, Page or linked professional account that you may use for messages. Check that you "
            "signed in as the right person and that you manage the account."
        ),
    ),
    "account_already_connected_elsewhere": (
        _("This account is in use"),
        _("It is connected to another workspace. Disconnect it there first, or choose another account."),
    ),
    "channel_limit_reached": (
        _("There is no room for another channel"),
        _(
            "The plan of this workspace allows no more channels of this kind. The person who sent you the link can "
            "change that."
        ),
    ),
    "reconnection_target_mismatch": (
        _("This is a different account"),
        _("To reconnect, choose the account that was connected before. Ask for a new link and try again."),
    ),
    "subscription_failed": (
        _("Could not receive messages"),
        _("The provider refused to send us this account's messages. Check that you are its administrator."),
    ),
    "credentials_expired": (
        _("Your sign-in has expired"),
        _("Your sign-in at the provider expired before you chose an account. Ask for a new link and try again."),
    ),
    "token_exchange_failed": (
        _("Could not sign you in"),
        _("The provider did not complete your sign-in. Ask for a new link and try again."),
    ),
    "asset_discovery_incomplete": (
        _("There are too many accounts"),
        _(
            "You manage more accounts than we can list. Ask for a new link, and allow only the account that "
            "you want to connect."
        ),
    ),
    "provider_request_failed": (
        _("The provider rejected the request"),
        _("Wait a few minutes, then ask for a new link and try again."),
    ),
    "provider_unavailable": (
        _("The provider cannot be reached"),
        _("Wait a few minutes, then ask for a new link and try again."),
    ),
    "provider_not_configured": (
        _("Not available yet"),
        _("We have not set up this platform yet. Ask the person who sent you the link to contact our support."),
    ),
    "session_expired": STATUS_MESSAGES[SessionStatus.EXPIRED],
}
NO_NUMBER_IN_THE_APP: Message = (
    _("No number in the WhatsApp Business app"),
    _(
        "We found no number that is connected in the WhatsApp Business app. Ask for a new link, confirm the connection "
        "in the app when Meta asks for it, or choose to use the number here only."
    ),
)


def immediate_return_url(session: ConnectSession, now: datetime) -> str | None:
    """Return the address for an immediate return; None while the session is open or its end is worth reading."""
    status, code = status_at(session, now)
    return build_return_url(session) if status not in OPEN and code in NOTHING_TO_READ else None


def outcome_context(session: ConnectSession, now: datetime, *, is_bound: bool) -> dict[str, Any]:
    """Return the texts for an ended session, its button's address, and the seconds until the browser returns.

    A browser that is not bound may be a stranger's, or a link preview. It gets no `state` and does not return by
    itself.
    """
    status, code = status_at(session, now)
    title, text = ERROR_MESSAGES.get(code or "", STATUS_MESSAGES[status])
    if session.keeps_business_app and code == "no_eligible_accounts":
        title, text = NO_NUMBER_IN_THE_APP
    return_url = build_return_url(session, has_state=is_bound)
    returns_by_itself = bool(return_url and is_bound and code not in NOTHING_TO_READ)
    return {
        "code": code,
        "title": title,
        "text": text,
        "return_url": return_url,
        "return_host": return_host(session),
        "return_seconds": READING_SECONDS if returns_by_itself else None,
    }


SEE_OTHER = 303
# The value of the choice to go on using the WhatsApp Business app.
KEEPS_APP = "business_app"


def was_on_business_app(session: ConnectSession) -> bool:
    """Whether the channel to connect again has a number that stays in the WhatsApp Business app."""
    return session.target is not None and session.target.is_on_business_app


class SeeOther(HttpResponseRedirect):
    """A 303 after a form: the browser follows it with GET."""

    status_code = SEE_OTHER


class ConnectStatusPage(ConnectPage):
    """Shows a session's status before or after the customer's choice."""

    def show_landing(self) -> HttpResponse:
        """Show who asks for what, with Continue and Cancel. The browser gets its cookie, which binds nothing yet."""
        page = self.page(
            "channelconnect/landing.html",
            return_host=return_host(self.session),
            path=self.request.path,
            may_keep_app=may_keep_business_app(self.session),
            keeps_app=self.session.keeps_business_app or was_on_business_app(self.session),
        )
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
        return SeeOther(immediate_return_url(self.session, self.now) or address)


class Landing(ConnectStatusPage):
    def get(self, request: HttpRequest, link: str) -> HttpResponseBase:
        session = self.require_session(session_by_link(link))
        require_same_browser(session, self.browser)
        status, _ = status_at(session, self.now)
        if status in (SessionStatus.PENDING, SessionStatus.AUTHORIZING):
            require_active_tenant(session)
            return self.show_landing()
        if is_bound_to(session, self.browser):
            return redirect("connect:session", session.uuid)
        return self.show_outcome()


class ActionView(ConnectStatusPage):
    """The target of a form. Afterwards the browser shows the form's page again, or returns to the agency."""

    http_method_names = ["post"]

    def go_on(self) -> HttpResponse:
        return self.leave(self.request.path.rpartition("/")[0])

    def act(self, session: ConnectSession) -> HttpResponseBase:
        """Do what the button says. Each button implements this."""
        raise NotImplementedError


class SessionByLinkView(ActionView):
    def post(self, request: HttpRequest, link: str) -> HttpResponseBase:
        try:
            return self.act(self.require_session(session_by_link(link)))
        except WrongStatus:
            return self.go_on()


class SessionByIdView(ActionView):
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
            keeps_business_app=self.request.POST.get("number") == KEEPS_APP,
        )
        response = SeeOther(consent.consent_url)
        remember_browser(response, consent.browser)
        return response


class Cancel(ActionView):
    """Ends the session because the customer pressed Cancel."""

    def act(self, session: ConnectSession) -> HttpResponseBase:
        decline_session(session=session, browser=self.browser, now=self.now, by=self.by)
        return self.go_on()


class ContinueLink(Continue, SessionByLinkView):
    pass


class CancelLink(Cancel, SessionByLinkView):
    pass


class ContinueSession(Continue, SessionByIdView):
    pass


class CancelSession(Cancel, SessionByIdView):
    pass
