"""This process's own calendar time, set ahead or back."""

from datetime import UTC, datetime, timedelta

import time_machine


def travel_ahead(ahead: timedelta) -> time_machine.travel:
    """Set the clock; give what sets it back. One that nobody looks at would stand still until somebody does."""
    travel = time_machine.travel(datetime.now(UTC) + ahead)
    travel.start()
    datetime.now(UTC)
    return travel
