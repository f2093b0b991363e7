"""What docs/channel-connect.md shows is what the product does, and its script walks."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from pytest_django.live_server_helper import LiveServer

from agency.event_types import event_labels, event_type
from channelconnect.models.sessions import COMPLETED, ERROR_CODES, SessionStatus
from tests.channelconnect.agencies import RETURN_URL, a_session, switch_on
from tests.channelconnect.customer import link_of, outcome
from tests.tenants import Tenant
from tools.sandbox import SandboxConfig, open_sandbox

PAGE = (Path(__file__).parents[2] / "docs" / "channel-connect.md").read_text()
SCRIPT = next(code for code in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL) if "def walk(" in code)


@pytest.mark.parametrize(
    "name", [*ERROR_CODES, *SessionStatus.values, *(name for name in event_labels() if name.startswith("channel."))]
)
def test_every_code_status_and_event_is_on_the_page(name: str) -> None:
    assert f"`{name}`" in PAGE


def test_the_page_shows_the_connection_as_events_carry_it() -> None:
    assert json.dumps(event_type(COMPLETED).sample_data(), indent=2) in PAGE


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("scenario", "text", "end"),
    [
        ({"person": "ann", "decision": "approve"}, "?connection_id=", ("connected", None)),
        ({"person": "ann", "decision": "decline"}, "?connection_id=", ("cancelled", "authorization_not_completed")),
        ({"person": "refused", "decision": "approve"}, "subscription_failed", ("failed", "subscription_failed")),
    ],
)
def test_the_script_walks_over_plain_http(
    live_server: LiveServer, settings: Any, scenario: dict[str, str], text: str, end: tuple[str, str | None]
) -> None:
    settings.PUBLIC_URL = live_server.url
    names: dict[str, Any] = {}
    exec(compile(SCRIPT, "walk.py", "exec"), names)  # noqa: S102  # the script itself is under test
    config = SandboxConfig.read({}, redirect_uris=(f"{live_server.url}/connect/callback",))
    with open_sandbox(config) as sandbox:
        for name, value in sandbox.variables.items():
            setattr(settings, name, value)
        session = a_session(switch_on(Tenant()))
        page = names["walk"](link_of(session), sandbox.url, RETURN_URL, **scenario)
    assert text in page
    assert outcome(session) == end
