"""Room in an allowance that is given back, because a message did not reach anybody."""

from collections.abc import Collection
from typing import Any

from channelconnect.sending.allowance import give_back, keys_of, person_key


def return_allowance(cursor: Any, taken: Collection[tuple[int, str]]) -> None:
    """Return what was taken for messages, by their channels and addresses, in the caller's transaction."""
    if not taken:
        return
    keys = keys_of(cursor, {channel for channel, _ in taken})
    give_back(cursor, [(keys[channel].name, person_key(address)) for channel, address in taken if channel in keys])
