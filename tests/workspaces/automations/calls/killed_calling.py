"""Makes the calls of automations until it is killed: for `tests.processes.preloaded`."""

from django.conf import settings

from tests.config.http.receivers import LOOPBACK
from workspaces.automations.dispatcher.loop import run_calls


def main() -> None:
    settings.WEBHOOK_ALLOWED_NETWORKS = LOOPBACK
    run_calls(should_stop=lambda: False)
