"""The session's clean address: the accounts to choose from, and in the end what became of it."""

from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.urls import reverse
from django.utils.translation import gettext as _

from agency.pages.lists import Pages, read_pages
from channelconnect.models.sessions import Status
from channelconnect.pages.landing import AskingPage, SeeOther, bound_session
from channelconnect.pages.turns import TURNS
from channelconnect.providers import Account
from channelconnect.services import NotNow, choose, discovered, refuse_other_browser, status_at
from config.db import name_key

LOOK_AGAIN_SECONDS = 2
LONGEST_SEARCH = 200


class SessionPage(AskingPage):
    def get(self, request: HttpRequest, uuid: UUID | None) -> HttpResponseBase:
        session = self.found(bound_session(uuid))
        refuse_other_browser(session, self.browser)
        status, _code = status_at(session, self.now)
        if status == Status.SELECTING:
            return self.choice()
        if status != Status.AUTHORIZING:
            return self.outcome()
        return self.asking() if session.state_digest else self.working()

    def working(self) -> HttpResponse:
        """The provider is being asked in another request of this browser."""
        page = self.page("connect/working.html", may_start_again=True)
        page.headers["Refresh"] = str(LOOK_AGAIN_SECONDS)
        return page

    def choice(self, *, refusal: str = "", status: int = 200) -> HttpResponse:
        accounts = discovered(self.session)[1]
        search = self.request.GET.get("search", "").strip()[:LONGEST_SEARCH]
        hits = [account for account in accounts if is_hit(account, search)]
        pages = read_pages(self.request, len(hits))
        shown = hits[pages.offset : pages.offset + pages.size]
        target = self.session.target
        return self.page(
            "connect/choice.html",
            status=status,
            accounts=shown,
            total=len(accounts),
            pages=pages,
            search=search,
            links=links_of(pages, search, reverse("connect:session", args=[self.session.uuid])),
            target=target,
            target_is_there=target is None or any(one.external_id == target.external_id for one in accounts),
            only=shown[0].external_id if len(accounts) == 1 and shown else "",
            refusal=refusal,
        )


def is_hit(account: Account, search: str) -> bool:
    """Whether a name or a handle holds the search, or it is the id; of phone numbers the digits count."""
    wanted, digits = name_key(search), "".join(filter(str.isdigit, search))
    texts = [name_key(account.name), name_key(account.handle)]
    if digits and not any(map(str.isalpha, search)):
        texts.append("".join(filter(str.isdigit, account.handle)))
        return any(digits in text for text in texts) or wanted in texts[0] or search == account.external_id
    return any(wanted in text for text in texts)


def links_of(pages: Pages, search: str, here: str) -> dict[str, str]:
    """The addresses of the pages before and after; empty where there is none."""
    numbers = {"previous": pages.previous, "next": pages.next}
    kept = {"search": search} if search else {}
    return {name: f"{here}?{urlencode(kept | {'page': number})}" if number else "" for name, number in numbers.items()}


class Choose(SessionPage):
    """Connects the chosen account; pressed twice, the second finds what the first has done."""

    http_method_names = ["post"]

    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponseBase:
        session = self.found(bound_session(uuid))
        with TURNS.taken() as is_our_turn:
            if not is_our_turn:
                refuse_other_browser(session, self.browser)
                return self._again(_("Many are connecting right now. Press Connect again in a moment."), status=503)
            chosen = request.POST.get("account", "")
            try:
                choose(session=session, browser=self.browser, external_id=chosen, now=self.now, by=self.by)
            except NotNow:
                session.refresh_from_db()
                return self._again(_("Choose one of the accounts."), status=422)
        return SeeOther(reverse("connect:session", args=[session.uuid]))

    def _again(self, refusal: str, *, status: int) -> HttpResponse:
        """Show the choice once more, if it is still to be made."""
        if status_at(self.session, self.now)[0] != Status.SELECTING:
            return SeeOther(reverse("connect:session", args=[self.session.uuid]))
        return self.choice(refusal=refusal, status=status)
