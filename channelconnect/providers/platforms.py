"""The client of each platform: finds the accounts that a grant opens, subscribes and registers them."""

import hashlib
import hmac
from collections.abc import Iterable, Iterator
from enum import StrEnum
from functools import lru_cache
from typing import ClassVar, Final

from channelconnect.providers.grants import Account, Grant, Provider, covered
from channelconnect.providers.graph import Graph, ProviderFault
from channelconnect.providers.parsing import Row, ident, recipients_per_day, row, text, texts
from channelconnect.providers.settings import ProviderSettings, provider_settings
from channelconnect.providers.transport import CallTimeouts, Transport

PAGES_SHOW_LIST: Final = "pages_show_list"
PAGE_FIELDS: Final = "id,name,access_token,tasks,instagram_business_account{id,username,name}"
TASKS: Final = {"MESSAGING", "MODERATE", "MANAGE"}
# An Instagram account is subscribed through its Page. The Page's endpoint refuses all fields if it does not know one of
# them, so fields that only Instagram has, such as `messaging_seen`, are chosen in the app's settings.
MESSAGE_FIELDS: Final = ",".join(
    (
        "messages",
        "messaging_postbacks",
        "message_deliveries",
        "message_reads",
        "message_echoes",
        "message_reactions",
        "message_edits",
        "messaging_referrals",
        "messaging_handovers",
        "standby",
    )
)


class PageProvider(Provider):
    """A client of a platform based on Pages. `page_scopes` are the scopes whose targets are Pages."""

    page_scopes: ClassVar[tuple[str, ...]]

    def _eligible(self, graph: Graph, grant: Grant) -> Iterator[Account]:
        for page in _pages(graph, grant):
            page_id, token = ident(page.get("id")), page.get("access_token")
            if page_id and isinstance(token, str) and token.isascii() and covered(grant, self.page_scopes, page_id):
                account = self._account(page_id, token, page, grant)
                if account is not None:
                    yield account

    def _account(self, id: str, token: str, page: Row, grant: Grant) -> Account | None:
        """Return the account behind a Page, or None if there is none. Each platform implements this."""
        raise NotImplementedError

    def subscribe(self, account: Account, grant: Grant) -> None:
        """Subscribe the Page; an Instagram account's messages come through its Page."""
        edge = f"{account.container_id}/subscribed_apps"
        self._graph().write(edge, token=account.token, form={"subscribed_fields": self._fields(grant)})

    def _fields(self, grant: Grant) -> str:
        return MESSAGE_FIELDS


class Facebook(PageProvider):
    platform = "facebook"
    needed = (PAGES_SHOW_LIST, "pages_messaging", "pages_manage_metadata")
    sends_with = "pages_messaging"
    wanted = ("pages_read_engagement", "pages_manage_engagement", "pages_read_user_content", "business_management")
    page_scopes = needed

    def _account(self, id: str, token: str, page: Row, grant: Grant) -> Account | None:
        name = text(page.get("name")) or id
        return Account(external_id=id, container_id=id, name=name, handle=name, token=token)

    def _fields(self, grant: Grant) -> str:
        """Comments come with the feed, which needs its own permission."""
        return f"{MESSAGE_FIELDS},feed" if "pages_read_user_content" in grant.scopes else MESSAGE_FIELDS


class Instagram(PageProvider):
    platform = "instagram"
    needed = ("instagram_basic", "instagram_manage_messages", PAGES_SHOW_LIST, "pages_manage_metadata")
    sends_with = "instagram_manage_messages"
    wanted = ("instagram_manage_comments", "pages_read_engagement", "business_management")
    page_scopes = (PAGES_SHOW_LIST, "pages_manage_metadata")

    def _account(self, id: str, token: str, page: Row, grant: Grant) -> Account | None:
        linked = row(page.get("instagram_business_account"))
        external_id, username = ident(linked.get("id")), text(linked.get("username"))
        if not external_id or not covered(grant, ("instagram_basic", "instagram_manage_messages"), external_id, id):
            return None
        handle = f"@{username}" if username else external_id
        return Account(
            external_id=external_id,
            container_id=id,
            name=text(linked.get("name")) or handle,
            handle=handle,
            token=token,
        )


def _pages(graph: Graph, grant: Grant) -> Iterator[Row]:
    """Yield the Pages on which the person has a task that messages need.

    The list leaves out a portfolio's Pages if the person may not manage the portfolio. Then the Pages that the consent
    named are read by their ids.
    """
    is_empty = True
    for page in graph.pages("me/accounts", token=grant.token, fields=PAGE_FIELDS):
        is_empty = False
        if TASKS & set(texts(page.get("tasks"))):
            yield page
    if is_empty:
        yield from _named_pages(graph, grant)


def _named_pages(graph: Graph, grant: Grant) -> Iterator[Row]:
    for page_id in grant.targets.get(PAGES_SHOW_LIST, ()):
        try:
            page = graph.read(page_id, token=grant.token, fields=PAGE_FIELDS)
        except ProviderFault as fault:
            if fault.code != "provider_request_failed":
                raise
            continue  # chosen, but gone or not readable
        if "tasks" not in page or TASKS & set(texts(page.get("tasks"))):
            yield page


MANAGEMENT: Final = "whatsapp_business_management"
MESSAGING: Final = "whatsapp_business_messaging"
ACCOUNT_FIELDS: Final = "id,name,account_review_status,owner_business_info"
NUMBER_FIELDS: Final = (
    "id,display_phone_number,verified_name,quality_rating,code_verification_status,name_status,status,platform_type,"
    "is_on_biz_app,throughput,whatsapp_business_manager_messaging_limit"
)
LIMIT: Final = "whatsapp_business_manager_messaging_limit"
EDGES: Final = ("client_whatsapp_business_accounts", "owned_whatsapp_business_accounts")
LONGEST_LEVEL: Final = 20
GONE: Final = {"BANNED", "DELETED", "MIGRATED"}
IN_USE: Final = {"CONNECTED", "FLAGGED", "RESTRICTED", "RATE_LIMITED", ""}


class AppData(StrEnum):
    """What a WhatsApp Business app hands over, under WhatsApp's names."""

    CONTACTS = "smb_app_state_sync"
    HISTORY = "history"


class WhatsApp(Provider):
    platform = "whatsapp"
    needed = (MANAGEMENT, MESSAGING)
    sends_with = MESSAGING
    wanted = ("business_management",)

    @classmethod
    def is_set_up(cls, settings: ProviderSettings) -> bool:
        return settings.has_app and bool(settings.whatsapp_config_id)

    def _eligible(self, graph: Graph, grant: Grant) -> Iterator[Account]:
        for container_id in business_accounts(graph, grant):
            business = graph.read(container_id, token=grant.token, fields=ACCOUNT_FIELDS)
            if business.get("account_review_status") == "REJECTED":
                continue
            for number in graph.pages(f"{container_id}/phone_numbers", token=grant.token, fields=NUMBER_FIELDS):
                if is_eligible(number, keeps_app=grant.keeps_app):
                    yield _account(number, container_id, business)

    def subscribe(self, account: Account, grant: Grant) -> None:
        """Subscribe the business account, and register the number if it cannot send yet.

        A registration is tried only once, because a number has ten in 72 hours. A number that stays in the WhatsApp
        Business app is never registered, because the phone has done that.
        """
        graph = self._graph()
        token = account.token or grant.token
        graph.write(f"{account.container_id}/subscribed_apps", token=token)
        if account.needs_registration:
            registration = {"messaging_product": "whatsapp", "pin": self.pin(account.external_id)}
            graph.write(f"{account.external_id}/register", token=token, json=registration, repeats=False)

    def refreshed(self, account: Account, grant: Grant) -> Account:
        """Read a number's quality and limit again."""
        fields = f"id,display_phone_number,verified_name,quality_rating,throughput,{LIMIT}"
        number = self._graph().read(account.external_id, token=account.token or grant.token, fields=fields)
        found = account.to_json() | {
            "throughput": throughput_of(number),
            "quality": text(number.get("quality_rating")) or None,
            "messaging_limit": recipients_per_day(number.get(LIMIT)),
        }
        return Account.from_json(found)

    def request_app_data(self, *, number_id: str, token: str, what: AppData) -> str:
        """Have the contacts or the history of a number's WhatsApp Business app sent. Return the id of the request.

        Each may be requested once, within a day after the number was connected.
        """
        body = {"messaging_product": "whatsapp", "sync_type": what.value}
        return self._graph().request(f"{number_id}/smb_app_data", token=token, json=body)

    def pin(self, number_id: str) -> str:
        """Return a number's six-digit PIN for two-step verification. It is always the same and stored nowhere."""
        mixed = hmac.new(self.settings.app_secret.encode(), f"pin:{number_id}".encode(), hashlib.sha256).digest()
        return f"{int.from_bytes(mixed[:8], 'big') % 1_000_000:06d}"


def business_accounts(graph: Graph, grant: Grant) -> Iterable[str]:
    """Return the business accounts that the consent named; if it covers all, those of every portfolio."""
    named = grant.targets.get(MANAGEMENT)
    found = _of_portfolios(graph, grant) if named is None else named
    return dict.fromkeys(key for key in found if key and covered(grant, (MANAGEMENT, MESSAGING), key))


def _of_portfolios(graph: Graph, grant: Grant) -> Iterator[str]:
    for portfolio in graph.pages("me/businesses", token=grant.token, fields="id"):
        portfolio_id = ident(portfolio.get("id"))
        for edge in EDGES if portfolio_id else ():
            for business in graph.pages(f"{portfolio_id}/{edge}", token=grant.token, fields="id"):
                yield ident(business.get("id"))


def throughput_of(number: Row) -> str:
    """Return STANDARD or HIGH, the level of a number's message rate; empty if the provider does not tell."""
    return text(row(number.get("throughput")).get("level"), LONGEST_LEVEL)


def is_eligible(number: Row, *, keeps_app: bool = False) -> bool:
    """Say whether a number can be connected: it is on the Cloud API or verified for it, and not in the Business app.

    With `keeps_app` it must be on both.
    """
    if not ident(number.get("id")) or is_in_app(number) is not keeps_app or text(number.get("status")) in GONE:
        return False
    if keeps_app:
        return number.get("platform_type") == "CLOUD_API"
    return not needs_registration(number) or number.get("code_verification_status") == "VERIFIED"


def is_in_app(number: Row) -> bool:
    """Say whether people use a number in the WhatsApp Business app."""
    return number.get("is_on_biz_app") is True


def needs_registration(number: Row) -> bool:
    is_on_cloud = text(number.get("platform_type")) in {"CLOUD_API", ""}
    return not is_on_cloud or text(number.get("status")) not in IN_USE


def _account(number: Row, container_id: str, business: Row) -> Account:
    shown = text(number.get("display_phone_number"))
    return Account(
        external_id=ident(number.get("id")),
        container_id=container_id,
        name=text(number.get("verified_name")) or text(business.get("name")) or shown,
        handle=shown,
        quality=text(number.get("quality_rating")) or None,
        messaging_limit=recipients_per_day(number.get(LIMIT)),
        throughput=throughput_of(number),
        portfolio_id=ident(row(business.get("owner_business_info")).get("id")) or None,
        needs_registration=needs_registration(number) and not is_in_app(number),
        is_on_business_app=is_in_app(number),
    )


CLIENTS: dict[str, type[Provider]] = {client.platform: client for client in (WhatsApp, Facebook, Instagram)}


def whatsapp(*, limits: CallTimeouts | None = None) -> WhatsApp:
    """Return WhatsApp's client. Raises `ProviderFault("provider_not_configured")` if it is not set up."""
    provider = provider_for(WhatsApp.platform, limits=limits)
    assert isinstance(provider, WhatsApp)  # noqa: S101  # tells the type checker what `CLIENTS` says
    return provider


def provider_for(
    platform: str, *, settings: ProviderSettings | None = None, limits: CallTimeouts | None = None
) -> Provider:
    """Return a platform's client. Raises `ProviderFault("provider_not_configured")` if it is not set up.

    Calls of one process share their connections.
    """
    chosen = settings or provider_settings()
    client = CLIENTS.get(platform)
    if client is None or not client.is_set_up(chosen):
        raise ProviderFault("provider_not_configured", platform=platform)
    return client(chosen, _transport(limits or CallTimeouts()))


@lru_cache(maxsize=8)
def _transport(limits: CallTimeouts) -> Transport:
    return Transport(limits)
