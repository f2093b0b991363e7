"""The clock by which a process knows how long its leases hold."""

import time

# It goes on while the machine sleeps, as the database's does; `time.monotonic` stands still then.
_CLOCK = getattr(time, "CLOCK_BOOTTIME", None)


def lease_clock() -> float:
    """Give seconds by a clock that nobody sets, and that no sleep stops where the system has such a clock."""
    return time.monotonic() if _CLOCK is None else time.clock_gettime(_CLOCK)
