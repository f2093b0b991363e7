"""What `make run` begins with: the agency, the workspace with its demo data, and the keys that are printed."""

import io
import json
from typing import Any

from django.core.management import call_command

from tools.local.runner.demo_number import connect_demo_number
from tools.sandbox.config import DEVELOPMENT
from workspaces.subaccounts.models import Workspace


class DemoSystem:
    """`keys` by surface; calls from this machine are not limited."""

    def __init__(self, settings: Any) -> None:
        settings.META_APP_ID, settings.META_APP_SECRET = DEVELOPMENT["META_APP_ID"], "a secret"
        settings.ADDRESS_LIMIT = settings.AGENCY_KEY_LIMIT = 10_000
        printed = io.StringIO()
        call_command("bootstrap", "--json", stdout=printed)
        known = json.loads(printed.getvalue())
        self.workspace = Workspace.objects.get()
        connect_demo_number(self.workspace)
        self.keys = {"agency": known["copy_key"], "workspace": known["workspace"]["key"]}
