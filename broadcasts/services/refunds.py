"""Returns an allowance's room after messages that reached nobody."""

from collections.abc import Collection
from typing import Any

from channelconnect.sending.claiming.allowance import give_back, person_key
from channelconnect.services.allowance_keys import keys_of


def return_allowance(cursor: Any, taken: Collection[tuple[int, str | None]]) -> None:
    """Return the room taken for messages, by their channels and addresses, in the caller's transaction.

    A contact who was removed meanwhile has no address any more; that room opens with time.
    """
    known = [(channel, address) for channel, address in taken if address is not None]
    if not known:
        return
    keys = keys_of(cursor, {channel for channel, _ in known})
    give_back(cursor, [(keys[channel].name, person_key(address)) for channel, address in known if channel in keys])
