"""How many more people a channel may write to first: counted by whoever sends."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from config.hooks import Registry
from workspaces.subaccounts.models import Channel


@dataclass(frozen=True, slots=True)
class AllowanceSource:
    """How a higher app counts: by channels' keys what is left to each, None where there is no limit."""

    name: str
    remaining: Callable[[Collection[Channel]], Mapping[int, int | None]]


allowance_sources = Registry[AllowanceSource]("sources of allowances")


def with_allowances(channels: Iterable[Channel]) -> list[Channel]:
    """Look up what is left to channels, into their `remaining_allowance`."""
    some = list(channels)
    for source in allowance_sources:
        left = source.remaining(some)
        for channel in some:
            channel.remaining_allowance = left[channel.pk]
    return some
