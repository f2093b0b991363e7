"""Sub-accounts that have used most of what their plan allows."""

from dataclasses import dataclass
from uuid import UUID

from django.db import connection

from agency.models import Agency

# Nine tenths of a limit on a type of channel is near. Small limits are there to be used up: who has one number uses it.
NEAR = """
SELECT workspace.uuid, workspace.name, 'channels.' || channel.platform, count(*),
    (workspace.limits #>> ARRAY['channels', channel.platform])::bigint AS allowed
FROM subaccounts_workspace workspace
JOIN subaccounts_channel channel ON channel.workspace_id = workspace.id AND channel.status <> 'disconnected'
WHERE workspace.agency_id = %(agency)s AND workspace.status = 'active'
    AND (workspace.limits #>> ARRAY['channels', channel.platform])::bigint >= %(least)s
GROUP BY workspace.id, channel.platform
HAVING count(*) * 10 >= (workspace.limits #>> ARRAY['channels', channel.platform])::bigint * 9
ORDER BY count(*) DESC, workspace.id
LIMIT %(most)s
"""
# An agency with more sub-accounts than this is not told by the home page, which must not count them all.
MOST_COUNTED = 2_000
LEAST_LIMIT = 5


@dataclass(frozen=True, slots=True)
class NearLimit:
    """A sub-account with `used` of `allowed`; `limit` is the limit's dotted name."""

    uuid: UUID
    name: str
    limit: str
    used: int
    allowed: int


def sub_accounts_near_limits(*, agency: Agency, most: int) -> list[NearLimit]:
    """Give some sub-accounts that have used nine tenths of a limit: one statement, or none for a very large agency."""
    if agency.sub_account_count > MOST_COUNTED:
        return []
    with connection.cursor() as cursor:
        cursor.execute(NEAR, {"agency": agency.pk, "least": LEAST_LIMIT, "most": most})
        return [NearLimit(*row) for row in cursor.fetchall()]
