"""A customer who walks through the sandbox's consent as asked to, and what the real client makes of it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import requests

from channelconnect.providers.grants import Account, Grant, Provider
from channelconnect.providers.graph import ProviderFault
from channelconnect.providers.platforms import provider_for
from channelconnect.providers.settings import ProviderSettings
from channelconnect.providers.transport import CallTimeouts
from tools.sandbox import RunningSandbox

REDIRECT_URI = "http://127.0.0.1:8000/connect/callback"
PLATFORMS = ("whatsapp", "facebook", "instagram")
# Repeats come at once.
QUICK = CallTimeouts(pause=0.001)
# What the tests of deadlines wait for.
SHORT = CallTimeouts(connect=0.5, read=0.25, whole=0.4, operation=3, pause=0.001)


@dataclass(frozen=True)
class Customer:
    sandbox: RunningSandbox
    limits: CallTimeouts = QUICK

    @property
    def settings(self) -> ProviderSettings:
        values = {name.removeprefix("META_").lower(): value for name, value in self.sandbox.variables.items()}
        return ProviderSettings(version="v26.0", **values)

    def provider(self, platform: str, **settings: str) -> Provider:
        values = {name: getattr(self.settings, name) for name in ProviderSettings.__dataclass_fields__}
        return provider_for(platform, settings=ProviderSettings(**{**values, **settings}), limits=self.limits)

    def returned(self, platform: str, person: str = "ann", **scenario: Any) -> dict[str, str]:
        """Give the query with which the browser comes back."""
        self.sandbox.play(**{"person": person, "decision": "approve", **scenario})
        consent = self.provider(platform).consent_url(state="a state", redirect_uri=REDIRECT_URI)
        answer = requests.get(consent, allow_redirects=False, timeout=60)
        assert answer.status_code == 302, answer.text
        query = parse_qs(urlsplit(answer.headers["Location"]).query)
        return {name: values[0] for name, values in query.items()}

    def code(self, platform: str, person: str = "ann", **scenario: Any) -> str:
        return self.returned(platform, person, **scenario)["code"]

    def grant(self, platform: str, person: str = "ann", **scenario: Any) -> Grant:
        code = self.code(platform, person, **scenario)
        return self.provider(platform).authorize(code=code, redirect_uri=REDIRECT_URI)

    def accounts(self, platform: str, person: str = "ann", **scenario: Any) -> list[Account]:
        return self.provider(platform).accounts(self.grant(platform, person, **scenario))

    def connect(self, platform: str, person: str = "ann", **scenario: Any) -> Account:
        """Go the whole way with the first account."""
        grant = self.grant(platform, person, **scenario)
        account = self.provider(platform).accounts(grant)[0]
        self.provider(platform).subscribe(account, grant)
        return account

    def calls(self, *names: str) -> list[dict[str, Any]]:
        """Give the ledger's calls of these names."""
        return [call for call in self.sandbox.ledger()["calls"] if not names or call["call"] in names]


def fault_of(attempt: Callable[[], object]) -> ProviderFault:
    with pytest.raises(ProviderFault) as caught:
        attempt()
    return caught.value


def fault(call: str, kind: str, **options: Any) -> dict[str, Any]:
    return {"faults": [{"call": call, "fault": kind, **options}]}
