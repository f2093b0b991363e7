"""Room in an allowance that is given back, because a message did not reach anybody."""

from collections.abc import Collection
from typing import Any

from channelconnect.sending.claiming.allowance import give_back, person_key
from channelconnect.services.allowance_keys import keys_of


def return_allowance(cursor: Any, taken: Collection[tuple[int, str | None]]) -> None:
    """Return what was taken for messages, by their channels and addresses, in the caller's transaction.

    Of a contact who was removed meanwhile nobody knows the address any more: their room opens with time.
    """
    known = [(channel, address) for channel, address in taken if address is not None]
    if not known:
        return
    keys = keys_of(cursor, {channel for channel, _ in known})
    give_back(cursor, [(keys[channel].name, person_key(address)) for channel, address in known if channel in keys])
