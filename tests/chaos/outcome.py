"""What came of a scenario, and whether every promise was kept."""

from dataclasses import dataclass, field

LONGEST_PAUSE_SECONDS = 25.0
# Longer than a call may take, whatever is away: 6 s, and a margin for a machine that is busy with the faults.
LONGEST_CALL_SECONDS = 10.0


@dataclass(frozen=True)
class Limits:
    """Seconds: without any arrival, for a call, and from a change that was told to the arrival of its event."""

    pause: float = LONGEST_PAUSE_SECONDS
    call: float = LONGEST_CALL_SECONDS
    wait: float = 2 * LONGEST_PAUSE_SECONDS


@dataclass
class Outcome:
    """`planned` and `injected` are faults. `unknown` are changes whose clients were never told what became of them.

    `lost`, `foreign` and the duplicates are counted by endpoint and envelope: `excused` is how many might have come
    twice for a fault's sake, `inexcusable` how many came twice without one. `wrong` has what must never be.
    """

    planned: int = 0
    injected: int = 0
    told: int = 0
    unknown: int = 0
    deliveries: int = 0
    lost: int = 0
    foreign: int = 0
    duplicates: int = 0
    excused: int = 0
    inexcusable: int = 0
    pause: float = 0.0
    longest_pause: float = LONGEST_PAUSE_SECONDS
    calls: str = ""
    notes: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    skipped: str = ""

    @property
    def holds(self) -> bool:
        if self.skipped:
            return True
        is_right = not (self.lost or self.foreign or self.inexcusable or self.wrong)
        was_tried = 0 < self.planned <= self.injected and self.told > self.unknown
        return is_right and was_tried and self.pause <= self.longest_pause

    @property
    def word(self) -> str:
        return "skipped" if self.skipped else "holds" if self.holds else "BROKEN"

    def __str__(self) -> str:
        if self.skipped:
            return self.skipped
        parts = [
            f"{self.injected}/{self.planned} faults",
            f"{self.told:,} told ({self.unknown} unknown)",
            f"{self.deliveries:,} deliveries",
            f"{self.lost} lost",
            f"{self.duplicates} duplicates ({self.excused} excused, {self.inexcusable} others)",
            f"{self.foreign} foreign",
            f"longest pause {self.pause:.1f} s",
            self.calls,
            *self.notes,
            *self.wrong,
        ]
        return ", ".join(part for part in parts if part)
