"""A customer's grant: the token with its scopes, and the accounts that it opens."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, Self


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """A customer's grant. `expires_at` None means never.

    `targets` has the ids to which a scope is limited. A scope without an entry covers all.
    """

    platform: str
    token: str = field(repr=False)
    expires_at: datetime | None = None
    scopes: tuple[str, ...] = ()
    targets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    user_id: str = ""

    def has_expired(self, now: datetime) -> bool:
        return self.expires_at is not None and self.expires_at <= now

    def covers(self, scope: str, *ids: str) -> bool:
        """Say whether a scope covers at least one of these assets."""
        limited_to = self.targets.get(scope)
        return limited_to is None or not set(ids).isdisjoint(limited_to)

    def to_json(self) -> dict[str, Any]:
        return {
            "platform": self.platform,
            "token": self.token,
            "expires_at": self.expires_at.isoformat() if self.expires_at else None,
            "scopes": list(self.scopes),
            "targets": {scope: list(ids) for scope, ids in self.targets.items()},
            "user_id": self.user_id,
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
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """A number, a Page or an Instagram account that can be connected.

    `container_id` is its WhatsApp business account or Page; `handle` is the name that people know. An empty `token`
    means the grant's token. `quality` and `messaging_limit` (people a day; None: no limit) are WhatsApp's. All numbers
    of `portfolio_id` share the limit. `throughput` is the level of the number's message rate.
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

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> Self:
        return cls(**kept)
