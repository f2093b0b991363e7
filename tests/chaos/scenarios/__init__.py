"""The scenarios by name."""

from tests.chaos.scenarios.backups import BACKUPS, FromBackup
from tests.chaos.scenarios.broadcasts import BROADCASTS, SHORT_BROADCAST, KilledBroadcast
from tests.chaos.scenarios.callers import CALLERS
from tests.chaos.scenarios.dependencies import DEPENDENCIES
from tests.chaos.scenarios.machines import MACHINES
from tests.chaos.scenarios.processes import PROCESSES
from tests.chaos.scenarios.receivers import RECEIVERS
from tests.chaos.scenarios.scenario import Scenario
from tests.chaos.scenarios.short import CONTROLS, SHORT

__all__ = ["ALL", "CONTROLS", "SCENARIOS"]

SCENARIOS: dict[str, Scenario | FromBackup | KilledBroadcast] = {
    **PROCESSES,
    **RECEIVERS,
    **DEPENDENCIES,
    **CALLERS,
    **MACHINES,
    **BACKUPS,
    **BROADCASTS,
}
ALL: dict[str, Scenario | FromBackup | KilledBroadcast] = {
    **SCENARIOS,
    **SHORT,
    **CONTROLS,
    "short-broadcast": SHORT_BROADCAST,
}
