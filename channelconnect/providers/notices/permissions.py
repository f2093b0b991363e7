"""Reads changes of the app's permissions as losses of accounts."""

from collections.abc import Iterator
from typing import Final

from channelconnect.providers.graph.parsing import Row, ident, row, rows, text
from channelconnect.providers.notices.accounts import Source
from channelconnect.providers.notices.events import AccountLost, ProviderEvent, Unknown
from channelconnect.providers.notices.values import moment

GONE: Final = {"revoke", "revoked", "remove", "removed", "disconnected"}


def read_permissions_entry(entry: Row, source: Source) -> Iterator[ProviderEvent]:
    """Yield the accounts whose permission was revoked. A change that names no account tells nothing about any."""
    at = moment(entry.get("time")) or source.came_at
    for change in rows(entry.get("changes")):
        value, field = row(change.get("value")), text(change.get("field"))
        targets = value.get("target_ids")
        named = list(filter(None, map(ident, targets if isinstance(targets, list) else [])))
        if text(value.get("verb")) not in GONE or not named:
            yield Unknown(platform="", kind=f"permissions.{field}", at=at)
            continue
        for target in named:
            yield AccountLost(platform="", account_id=target, container_id=target, at=at, reason=f"{field} revoked")
