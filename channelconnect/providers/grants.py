"""A customer's grant, and the base of the platforms' clients, which ask for consent and turn its code into one."""

import json
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar, Final, Self
from urllib.parse import urlencode

from channelconnect.providers.graph import Call, Graph, ProviderFault, Step
from channelconnect.providers.parsing import ID, Row, ident, number, row, rows, text, texts
from channelconnect.providers.settings import ProviderSettings
from channelconnect.providers.transport import Transport


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """A customer's grant. `expires_at` None means never.

    `targets` has the ids to which a scope is limited. A scope without an entry covers all. With `keeps_app` the
    customer has chosen to go on using the WhatsApp Business app.
    """

    platform: str
    token: str = field(repr=False)
    expires_at: datetime | None = None
    scopes: tuple[str, ...] = ()
    targets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    user_id: str = ""
    keeps_app: bool = False

    def has_expired(self, now: datetime) -> bool:
        return self.expires_at is not None and self.expires_at <= now

    def covers(self, scope: str, *ids: str) -> bool:
        """Say whether a scope covers at least one of these assets."""
        limited_to = self.targets.get(scope)
        return limited_to is None or not set(ids).isdisjoint(limited_to)

    def to_json(self) -> dict[str, object]:
        return {
            "platform": self.platform,
            "token": self.token,
            "expires_at": self.expires_at.isoformat() if self.expires_at else None,
            "scopes": list(self.scopes),
            "targets": {scope: list(ids) for scope, ids in self.targets.items()},
            "user_id": self.user_id,
            "keeps_app": self.keeps_app,
        }

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> Self:
        expires_at = kept["expires_at"]
        return cls(
            platform=kept["platform"],
            token=kept["token"],
            expires_at=datetime.fromisoformat(expires_at) if expires_at else None,
            scopes=tuple(kept["scopes"]),
            targets={scope: tuple(ids) for scope, ids in kept["targets"].items()},
            user_id=kept["user_id"],
            keeps_app=kept.get("keeps_app", False),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """A number, a Page or an Instagram account that can be connected.

    `container_id` is its WhatsApp business account or Page; `handle` is the name that people know. An empty `token`
    means the grant's token. `quality` and `messaging_limit` (people a day; None: no limit) are WhatsApp's. All numbers
    of `portfolio_id` share the limit. `throughput` is the level of the number's message rate. With `is_on_business_app`
    the number stays in the WhatsApp Business app.
    """

    external_id: str
    container_id: str
    name: str
    handle: str
    token: str = field(default="", repr=False)
    quality: str | None = None
    messaging_limit: int | None = None
    portfolio_id: str | None = None
    needs_registration: bool = False
    throughput: str = ""
    is_on_business_app: bool = False

    def to_json(self) -> dict[str, object]:
        return asdict(self)

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> Self:
        return cls(**kept)


EXCHANGE: Final = "oauth/access_token"
LONGEST_TOKEN: Final = 16_384
SHORT_LIFE: Final = timedelta(days=1)
LAST_MOMENT: Final = 253_402_300_799  # the end of the year 9999


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspection:
    """The provider's answer about a token; `targets` as in `Grant`."""

    is_valid: bool
    app_id: str
    is_of_a_person: bool
    expires_at: datetime | None
    scopes: frozenset[str]
    targets: Mapping[str, tuple[str, ...]]
    user_id: str

    def has_expired(self, now: datetime) -> bool:
        return self.expires_at is not None and self.expires_at <= now

    def is_short_lived(self, now: datetime) -> bool:
        """Say whether it is a person's token for some hours, which can be exchanged for one of about 60 days."""
        return self.is_of_a_person and self.expires_at is not None and self.expires_at < now + SHORT_LIFE


def exchange_code(graph: Graph, *, code: str, redirect_uri: str) -> str:
    """Exchange a code for a token. It is never repeated: the code may be used up although no answer came."""
    if not code:
        raise ProviderFault("token_exchange_failed", reason="no_code")
    return _token(graph, {"redirect_uri": redirect_uri, "code": code})


def lengthen_token(graph: Graph, token: str) -> str:
    return _token(graph, {"grant_type": "fb_exchange_token", "fb_exchange_token": token})


def _token(graph: Graph, what: Mapping[str, str]) -> str:
    ours = {"client_id": graph.settings.app_id, "client_secret": graph.settings.app_secret}
    answer = graph.call(Call(step=Step.EXCHANGE, path=EXCHANGE, params={**ours, **what}, repeats=False))
    token = answer.get("access_token")
    lifetime = answer.get("expires_in")
    is_odd = lifetime is not None and number(lifetime) is None
    if not isinstance(token, str) or not 0 < len(token) <= LONGEST_TOKEN or not token.isascii() or is_odd:
        raise ProviderFault("token_exchange_failed", call=f"GET {EXCHANGE}", reason="unusable_token_answer")
    return token


def inspect_token(graph: Graph, token: str) -> Inspection:
    """Ask what a customer's token may do, with the app's own token."""
    params = {"input_token": token}
    call = Call(step=Step.INSPECT, path="debug_token", params=params, token=graph.settings.app_token)
    data = row(graph.call(call).get("data"))
    scopes = texts(data.get("scopes"))
    return Inspection(
        is_valid=data.get("is_valid") is True,
        app_id=ident(data.get("app_id")),
        is_of_a_person=data.get("type") == "USER",
        expires_at=_moment(data.get("expires_at")),
        scopes=frozenset(scopes),
        targets=_targets(data),
        user_id=ident(data.get("user_id")),
    )


def _moment(value: object) -> datetime | None:
    """Parse seconds since 1970. 0 or a missing value means never; an unreadable value counts as expired."""
    seconds = 0 if value is None else number(value)
    if seconds is None or not 0 <= seconds <= LAST_MOMENT:
        return datetime.fromtimestamp(0, UTC)
    return datetime.fromtimestamp(seconds, UTC) if seconds else None


def _targets(data: Row) -> dict[str, tuple[str, ...]]:
    return {
        text(entry.get("scope")): tuple(filter(ID.fullmatch, map(str, ids)))
        for entry in rows(data.get("granular_scopes"))
        if isinstance(ids := entry.get("target_ids"), list)
    }


def withheld(graph: Graph, token: str) -> set[str]:
    """Return the permissions that the person declined or that have expired."""
    permissions = list(graph.pages("me/permissions", token=token))
    return {text(entry.get("permission")) for entry in permissions if entry.get("status") != "granted"}


MOST_ACCOUNTS: Final = 500
BUSINESS_APP_FEATURE: Final = "whatsapp_business_app_onboarding"
BUSINESS_APP_EXTRAS: Final = json.dumps(
    {"setup": {}, "featureType": BUSINESS_APP_FEATURE, "sessionInfoVersion": "3"}, separators=(",", ":")
)


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

    def consent_url(self, *, state: str, redirect_uri: str, keeps_app: bool = False) -> str:
        """Return the address of the provider's consent screens.

        With `keeps_app` these offer to connect a number that stays in the WhatsApp Business app.
        """
        asked = {
            "client_id": self.settings.app_id,
            "redirect_uri": redirect_uri,
            "state": state,
            "response_type": "code",
        }
        config_id = self.settings.config_id(self.platform)
        if config_id:
            asked |= {"config_id": config_id, "override_default_response_type": "true"}
            asked |= {"extras": BUSINESS_APP_EXTRAS} if keeps_app else {}
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
