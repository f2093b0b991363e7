"""The clock by which a process knows how long its leases hold."""

import time

# This clock goes on while the machine sleeps, as the database's does. `time.monotonic` stops.
_CLOCK = getattr(time, "CLOCK_BOOTTIME", None)


def lease_clock() -> float:
    """Return seconds by a clock that nobody sets. Where the system has such a clock, no sleep stops it."""
    return time.monotonic() if _CLOCK is None else time.clock_gettime(_CLOCK)
