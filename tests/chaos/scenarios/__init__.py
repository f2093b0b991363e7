"""The scenarios by name."""

from tests.chaos.scenarios.backups import BACKUPS, FromBackup
from tests.chaos.scenarios.broadcasts import BROADCASTS, SHORT_BROADCAST, BroadcastScenario
from tests.chaos.scenarios.callers import CALLERS
from tests.chaos.scenarios.consent import OVERTAKEN
from tests.chaos.scenarios.conversations import MISLED
from tests.chaos.scenarios.dependencies import DEPENDENCIES
from tests.chaos.scenarios.machines import MACHINES
from tests.chaos.scenarios.processes import PROCESSES
from tests.chaos.scenarios.receivers import RECEIVERS
from tests.chaos.scenarios.recovered import RECOVERED
from tests.chaos.scenarios.scenario import Scenario
from tests.chaos.scenarios.short import CONTROLS, SHORT

__all__ = ["ALL", "CONTROLS", "SCENARIOS"]

SCENARIOS: dict[str, Scenario | FromBackup | BroadcastScenario] = {
    **PROCESSES,
    **RECEIVERS,
    **DEPENDENCIES,
    **CALLERS,
    **MACHINES,
    **BACKUPS,
    **BROADCASTS,
    **RECOVERED,
}
ALL: dict[str, Scenario | FromBackup | BroadcastScenario] = {
    **SCENARIOS,
    **SHORT,
    **CONTROLS,
    "short-broadcast": SHORT_BROADCAST,
    "misled-conversations": MISLED,
    "overtaken-words": OVERTAKEN,
}
