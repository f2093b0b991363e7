"""WhatsApp's Cloud API: business accounts, their numbers, subscription and registration."""

import hashlib
import hmac
from collections.abc import Iterable, Iterator
from typing import Final

from channelconnect.providers.grants import Account, Grant
from channelconnect.providers.graph.client import Graph
from channelconnect.providers.graph.parsing import Row, ident, recipients_per_day, row, text
from channelconnect.providers.platforms.provider import Provider, covered
from channelconnect.providers.settings import ProviderSettings

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
                if is_eligible(number):
                    yield _account(number, container_id, business)

    def subscribe(self, account: Account, grant: Grant) -> None:
        """Subscribe the business account, and register the number if it cannot send yet.

        A registration is tried only once, because a number has ten in 72 hours.
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


def is_eligible(number: Row) -> bool:
    """Say whether a number can be connected: it is on the Cloud API or verified for it, and not in the Business app."""
    if not ident(number.get("id")) or number.get("is_on_biz_app") is True or text(number.get("status")) in GONE:
        return False
    return not needs_registration(number) or number.get("code_verification_status") == "VERIFIED"


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
        needs_registration=needs_registration(number),
    )
