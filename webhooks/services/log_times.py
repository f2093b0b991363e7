"""Finds a moment's position in the delivery log."""

from datetime import UTC, datetime, timedelta

from config.retention import first_id_since
from webhooks.models.partitions import A_DAY, DELIVERIES, first_id

# `created_at` comes from the machine that made the delivery, whose clock may be this far off the database's.
CLOCKS_DIFFER = timedelta(seconds=30)
# Moments outside these limits are treated as the limits: no delivery is kept so long, and none is in the future.
LONGEST_AGO, FURTHEST_AHEAD = timedelta(days=60), timedelta(days=3)


def first_delivery_since(moment: datetime, *, now: datetime, aside: timedelta) -> int:
    """Return the primary key that separates deliveries made since a moment from earlier ones.

    `aside` shifts the moment, because clocks differ.
    """
    moment = min(max(moment, now - LONGEST_AGO), now + FURTHEST_AHEAD).astimezone(UTC) + aside
    day = moment.date()
    return first_id_since(
        moment, table=DELIVERIES.parent, column="created_at", first=first_id(day), end=first_id(day + A_DAY)
    )
