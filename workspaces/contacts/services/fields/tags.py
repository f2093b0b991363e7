"""Tags: kept as they were written, compared without regard to case and Unicode form."""

from collections.abc import Iterable
from functools import lru_cache

from config.db import name_key

# A workspace's contacts have the same few tags.
tag_key = lru_cache(maxsize=4_096)(name_key)


def distinct_tags(tags: Iterable[str]) -> list[str]:
    """Give the tags in their order, each once: of two spellings the first."""
    by_key: dict[str, str] = {}
    for tag in tags:
        by_key.setdefault(tag_key(tag), tag)
    return list(by_key.values())


def joined_tags(held: Iterable[str], more: Iterable[str]) -> list[str]:
    """Give the tags held and those of `more` that are not among them."""
    return distinct_tags([*held, *more])


def added_tags(before: Iterable[str], after: Iterable[str]) -> list[str]:
    """Give those of `after` that are not among `before` in any spelling."""
    held = {tag_key(tag) for tag in before}
    return [tag for tag in after if tag_key(tag) not in held]
