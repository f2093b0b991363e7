"""The pages after the provider's consent page: the redirect that takes the code, and the choice of an account.

The callback redirects at once, so that codes leave the address bar. The provider knows a single address, on the
installation's own host. A session that began on its agency's host goes on there, because the browser has its cookie
for that host.
"""

from urllib.parse import urlencode
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.urls import reverse
from django.utils.translation import gettext as _

from agency.pages.branding import host_agency_id
from agency.pages.invalid_forms import skip_cached_form_page
from agency.pages.pagination import NumberedPages, read_pages
from channelconnect.models.sessions import SessionStatus
from channelconnect.pages.base import PROVIDER_CALLS, callback_address
from channelconnect.pages.landing import ConnectStatusPage, SeeOther, bound_session, immediate_return_url
from channelconnect.providers.grants import Account
from channelconnect.services.sessions.creation import session_by_state
from channelconnect.services.sessions.ending import status_at
from channelconnect.services.sessions.flow import (
    PARAMETER,
    AuthorizationResponse,
    WrongStatus,
    authorized_accounts,
    complete_authorization,
    forwarded_response,
    forwarding_address,
    require_same_browser,
    select_account,
)
from channelconnect.services.subscriptions import AccountBusy
from config.db import name_key

AGAIN_SECONDS = 2


class Callback(ConnectStatusPage):
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


LOOK_AGAIN_SECONDS = 2
LONGEST_SEARCH = 200


class SessionPage(ConnectStatusPage):
    def get(self, request: HttpRequest, uuid: UUID | None) -> HttpResponseBase:
        session = self.require_session(bound_session(uuid))
        require_same_browser(session, self.browser)
        status, _code = status_at(session, self.now)
        if status == SessionStatus.SELECTING:
            return self.show_accounts()
        skip_cached_form_page(request)
        if status != SessionStatus.AUTHORIZING:
            address = immediate_return_url(session, self.now)
            return SeeOther(address) if address else self.show_outcome()
        return self.show_landing() if session.state_digest else self.show_progress()

    def show_progress(self) -> HttpResponse:
        """Another request of this browser is waiting for the provider."""
        page = self.page("channelconnect/in_progress.html", may_start_again=True)
        page.headers["Refresh"] = str(LOOK_AGAIN_SECONDS)
        return page

    def show_accounts(self, *, refusal: str = "", status: int = 200) -> HttpResponse:
        accounts = authorized_accounts(self.session).accounts
        search = self.request.GET.get("search", "").strip()[:LONGEST_SEARCH]
        hits = [account for account in accounts if is_hit(account, search)]
        pages = read_pages(self.request, len(hits))
        shown = hits[pages.offset : pages.offset + pages.size]
        target = self.session.target
        return self.page(
            "channelconnect/choose_account.html",
            status=status,
            accounts=shown,
            total=len(accounts),
            pages=pages,
            search=search,
            links=links_of(pages, search, reverse("connect:session", args=[self.session.uuid])),
            target=target,
            target_is_listed=target is None or any(one.external_id == target.external_id for one in accounts),
            only_id=shown[0].external_id if len(accounts) == 1 and shown else "",
            refusal=refusal,
        )


def is_hit(account: Account, search: str) -> bool:
    """Say whether a name, a handle or the id matches the search. In phone numbers only the digits count."""
    wanted, digits = name_key(search), "".join(filter(str.isdigit, search))
    texts = [name_key(account.name), name_key(account.handle)]
    if digits and not any(map(str.isalpha, search)):
        texts.append("".join(filter(str.isdigit, account.handle)))
        return any(digits in text for text in texts) or wanted in texts[0] or search == account.external_id
    return any(wanted in text for text in texts)


def links_of(pages: NumberedPages, search: str, here: str) -> dict[str, str]:
    """Return the addresses of the previous and the next page; empty if there is none."""
    numbers = {"previous": pages.previous, "next": pages.next}
    kept = {"search": search} if search else {}
    return {name: f"{here}?{urlencode(kept | {'page': number})}" if number else "" for name, number in numbers.items()}


class SelectAccount(SessionPage):
    """Connects the chosen account. A second press finds what the first has done."""

    http_method_names = ["post"]

    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponseBase:
        session = self.require_session(bound_session(uuid))
        with PROVIDER_CALLS.slot() as is_free:
            if not is_free:
                require_same_browser(session, self.browser)
                return self._again(
                    _("Many people are connecting right now. Press Connect again in a moment."), status=503
                )
            chosen = request.POST.get("account", "")
            try:
                select_account(session=session, browser=self.browser, external_id=chosen, now=self.now, by=self.by)
            except AccountBusy:
                refusal = _("This account is still being disconnected. Press Connect again in a moment.")
                return self._again(refusal, status=503)
            except WrongStatus:
                session.refresh_from_db()
                return self._again(_("Choose one of the accounts."), status=422)
        return self.go_on()

    def go_on(self) -> HttpResponse:
        return self.leave(reverse("connect:session", args=[self.session.uuid]))

    def _again(self, refusal: str, *, status: int) -> HttpResponse:
        """Show the accounts again while the choice is still open."""
        if status_at(self.session, self.now)[0] != SessionStatus.SELECTING:
            return self.go_on()
        return self.show_accounts(refusal=refusal, status=status)
