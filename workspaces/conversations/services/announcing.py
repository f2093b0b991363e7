"""Tells whoever looks at a workspace's inbox that conversations have changed, once that is committed."""

from collections.abc import Iterable

import orjson
from django.conf import settings
from django.db import transaction

from config.redis import RedisAway, attempt

# More conversations than this are not named: whoever listens looks at all of them anew.
MOST_NAMED = 100
KEPT_SECONDS = 24 * 3600
# Numbers the change and publishes it under that number; a number that is lost with Redis begins anew.
PUBLISH = """
for each = 1, #KEYS do
    local number = redis.call('INCR', KEYS[each])
    redis.call('EXPIRE', KEYS[each], ARGV[1])
    redis.call('PUBLISH', KEYS[each], number .. ' ' .. ARGV[each + 1])
end
"""


def changes_channel(workspace_id: int) -> str:
    """The channel in Redis, and the key of the last number, of a workspace's changes; channels know no databases."""
    return f"inbox:{settings.DATABASES['default']['NAME']}:{workspace_id}"


def announce_changes(changed: Iterable[tuple[int, int]]) -> None:
    """Say, after the commit, which conversations of which workspaces have changed: pairs of their numbers.

    Each workspace's changes are numbered (`last_change`), and published as `NUMBER [CONVERSATION, …]`, or `NUMBER []`
    where they are too many to be named. A lost one is harmless: whoever finds a number missing looks anew.
    """
    conversations: dict[int, set[int]] = {}
    for workspace, conversation in changed:
        conversations.setdefault(workspace, set()).add(conversation)
    if not conversations:
        return

    def publish_after_commit() -> None:
        _publish(conversations)

    transaction.on_commit(publish_after_commit, robust=True)


def _publish(conversations: dict[int, set[int]]) -> None:
    keys = [changes_channel(workspace) for workspace in conversations]
    named = [orjson.dumps(sorted(ids) if len(ids) <= MOST_NAMED else []) for ids in conversations.values()]
    try:
        attempt(lambda redis: redis.eval(PUBLISH, len(keys), *keys, KEPT_SECONDS, *named))
    except RedisAway:
        return


def last_change(workspace_id: int) -> int:
    """Give the number of a workspace's last change; 0 where none is known, or Redis is away."""
    try:
        found = attempt(lambda redis: redis.get(changes_channel(workspace_id)))
    except RedisAway:
        return 0
    return int(found or 0)
