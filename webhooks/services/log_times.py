"""Where in the log a moment is."""

from datetime import UTC, datetime, timedelta

from config.retention.row_times import first_id_since
from webhooks.models.partitions import A_DAY, DELIVERIES, first_id

# When a delivery was made is said by the clock of the machine that made it, which may be this far off the database's.
CLOCKS_DIFFER = timedelta(seconds=30)
# A moment outside of these days is as good as their edge: nothing is kept so long, and nothing is of the future.
LONGEST_AGO, FURTHEST_AHEAD = timedelta(days=60), timedelta(days=3)


def first_delivery_since(moment: datetime, *, now: datetime, aside: timedelta) -> int:
    """Give a number that all deliveries made since a moment have at least, and all before it stay below.

    `aside` is how far beside the moment is looked, as clocks differ.
    """
    moment = min(max(moment, now - LONGEST_AGO), now + FURTHEST_AHEAD).astimezone(UTC) + aside
    day = moment.date()
    return first_id_since(
        moment, table=DELIVERIES.parent, column="created_at", first=first_id(day), end=first_id(day + A_DAY)
    )
