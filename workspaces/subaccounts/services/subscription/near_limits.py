"""The query for sub-accounts that have used most of a channel limit."""

from dataclasses import dataclass
from uuid import UUID

from django.db import connection

from agency.models import Agency

# A sub-account is near a limit on a type of channel at nine tenths of it. Limits below `LEAST_LIMIT` do not count:
# small limits are meant to be used up, as a customer with one number uses it.
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
# For an agency with more sub-accounts than this, the home page leaves this out, so that it does not count them all.
MOST_COUNTED = 2_000
LEAST_LIMIT = 5


@dataclass(frozen=True, slots=True)
class NearLimit:
    """A sub-account that uses `used` of `allowed`. `limit` is the limit's dotted name."""

    uuid: UUID
    name: str
    limit: str
    used: int
    allowed: int


def sub_accounts_near_limits(*, agency: Agency, most: int) -> list[NearLimit]:
    """Give some sub-accounts that have used nine tenths of a channel limit; none for a very large agency."""
    if agency.sub_account_count > MOST_COUNTED:
        return []
    with connection.cursor() as cursor:
        cursor.execute(NEAR, {"agency": agency.pk, "least": LEAST_LIMIT, "most": most})
        return [NearLimit(*row) for row in cursor.fetchall()]
