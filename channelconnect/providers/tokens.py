"""Exchanges a code for a token, and inspects tokens."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from channelconnect.providers.faults import ProviderFault, Step
from channelconnect.providers.graph.client import Call, Graph
from channelconnect.providers.graph.parsing import ID, Row, ident, number, row, rows, text, texts

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
    limited = [entry for entry in rows(data.get("granular_scopes")) if isinstance(entry.get("target_ids"), list)]
    return {text(entry.get("scope")): tuple(filter(ID.fullmatch, map(str, entry["target_ids"]))) for entry in limited}


def withheld(graph: Graph, token: str) -> set[str]:
    """Return the permissions that the person declined or that have expired."""
    permissions = list(graph.pages("me/permissions", token=token))
    return {text(entry.get("permission")) for entry in permissions if entry.get("status") != "granted"}
