"""An installation that lets webhooks reach this machine, as development does."""

from ipaddress import ip_network
from typing import Any

import pytest


@pytest.fixture(autouse=True)
def _reaches_this_machine(settings: Any) -> None:
    settings.WEBHOOK_ALLOWED_NETWORKS = [ip_network("127.0.0.0/8")]
