"""The base of every platform's client: it asks for consent, and turns the returned code into a checked grant."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator
from datetime import UTC, datetime
from typing import ClassVar, Final
from urllib.parse import urlencode

from channelconnect.providers.faults import ProviderFault
from channelconnect.providers.grants import Account, Grant
from channelconnect.providers.graph.client import Graph
from channelconnect.providers.graph.transport import Transport
from channelconnect.providers.settings import ProviderSettings
from channelconnect.providers.tokens import Inspection, exchange_code, inspect_token, lengthen_token, withheld

MOST_ACCOUNTS: Final = 500


class Provider(ABC):
    """The client of one platform. Every failure is a `ProviderFault` with one of the specification's error codes.

    `needed` permissions are required; `wanted` ones are only asked for as well. `sends_with` is the permission that
    sends messages.
    """

    platform: ClassVar[str]
    needed: ClassVar[tuple[str, ...]]
    sends_with: ClassVar[str]
    wanted: ClassVar[tuple[str, ...]] = ()

    def __init__(self, settings: ProviderSettings, transport: Transport) -> None:
        self.settings = settings
        self.transport = transport

    @classmethod
    def is_set_up(cls, settings: ProviderSettings) -> bool:
        return settings.has_app

    def consent_url(self, *, state: str, redirect_uri: str) -> str:
        """Return the address of the provider's consent screens."""
        asked = {
            "client_id": self.settings.app_id,
            "redirect_uri": redirect_uri,
            "state": state,
            "response_type": "code",
        }
        config_id = self.settings.config_id(self.platform)
        if config_id:
            asked |= {"config_id": config_id, "override_default_response_type": "true"}
        else:
            # Without `auth_type`, the provider would never ask again for a permission that was once declined.
            asked |= {"scope": ",".join([*self.needed, *self.wanted]), "auth_type": "rerequest"}
        return f"{self.settings.dialog_url}/{self.settings.version}/dialog/oauth?{urlencode(asked)}"

    def authorize(self, *, code: str, redirect_uri: str) -> Grant:
        """Exchange the code once, and check the grant: it is for our app, valid, and enough for messages."""
        graph = self._graph()
        token = exchange_code(graph, code=code, redirect_uri=redirect_uri)
        inspection = self._checked(graph, token)
        if inspection.is_short_lived(datetime.now(UTC)):
            token = lengthen_token(graph, token)
            inspection = self._checked(graph, token)
        missing = set(self.needed) - inspection.scopes
        if inspection.is_of_a_person:
            missing |= set(self.needed) & withheld(graph, token)
        if missing:
            raise ProviderFault("required_permissions_missing", missing=sorted(missing))
        return Grant(
            platform=self.platform,
            token=token,
            expires_at=inspection.expires_at,
            scopes=tuple(sorted(inspection.scopes)),
            targets=inspection.targets,
            user_id=inspection.user_id,
        )

    def accounts(self, grant: Grant) -> list[Account]:
        """List the accounts that can be connected: all pages of the list, at least one account, at most 500."""
        if grant.has_expired(datetime.now(UTC)):
            raise ProviderFault("credentials_expired", reason="grant_expired")
        found: dict[str, Account] = {}
        for account in self._eligible(self._graph(), grant):
            found[account.external_id] = account
            if len(found) > MOST_ACCOUNTS:
                raise ProviderFault("asset_discovery_incomplete", reason="too_many_accounts")
        if not found:
            raise ProviderFault("no_eligible_accounts")
        return list(found.values())

    def may_send(self, *, token: str, ids: Collection[str]) -> bool:
        """Ask whether a token is valid and may still send messages for an account with one of these ids."""
        inspection = inspect_token(self._graph(), token)
        is_alive = inspection.is_valid and not inspection.has_expired(datetime.now(UTC))
        limited_to = inspection.targets.get(self.sends_with)
        is_reached = limited_to is None or not set(ids).isdisjoint(limited_to)
        return is_alive and is_reached and self.sends_with in inspection.scopes

    @abstractmethod
    def _eligible(self, graph: Graph, grant: Grant) -> Iterator[Account]: ...

    @abstractmethod
    def subscribe(self, account: Account, grant: Grant) -> None:
        """Have the account's messages sent to us. It is safe to repeat."""

    def unsubscribe(self, *, container_id: str, token: str) -> None:
        """End all subscriptions of a business account or a Page to our app. It is safe to repeat."""
        self._graph().write(f"{container_id}/subscribed_apps", token=token, method="DELETE")

    def _graph(self) -> Graph:
        return Graph(self.settings, self.transport)

    def _checked(self, graph: Graph, token: str) -> Inspection:
        inspection = inspect_token(graph, token)
        if not inspection.is_valid or inspection.has_expired(datetime.now(UTC)):
            raise ProviderFault("credentials_expired", reason="token_invalid")
        if inspection.app_id != self.settings.app_id:
            raise ProviderFault("token_exchange_failed", reason="token_of_another_app")
        return inspection


def covered(grant: Grant, scopes: Iterable[str], *ids: str) -> bool:
    """Say whether each of the scopes covers one of these ids."""
    return all(grant.covers(scope, *ids) for scope in scopes)
