"""Tags are stored as written and compared without regard to case and Unicode form."""

from collections.abc import Iterable
from functools import lru_cache

from config.db import name_key

# Cached, because a workspace's contacts share a few tags.
tag_key = lru_cache(maxsize=4_096)(name_key)


def distinct_tags(tags: Iterable[str]) -> list[str]:
    """Return the tags in their order without duplicates. Of two spellings the first stays."""
    by_key: dict[str, str] = {}
    for tag in tags:
        by_key.setdefault(tag_key(tag), tag)
    return list(by_key.values())


def joined_tags(held: Iterable[str], more: Iterable[str]) -> list[str]:
    """Return the tags of `held`, then those of `more` that are not among them."""
    return distinct_tags([*held, *more])


def added_tags(before: Iterable[str], after: Iterable[str]) -> list[str]:
    """Return the tags of `after` that `before` has in no spelling."""
    held = {tag_key(tag) for tag in before}
    return [tag for tag in after if tag_key(tag) not in held]
