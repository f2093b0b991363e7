"""What each process of a host last read from the file that sets its clock."""

from pathlib import Path


def reading_of(clock: Path, pid: int) -> Path:
    """The file in which a process says it."""
    return clock.with_name(f"{clock.name}-{pid}")
