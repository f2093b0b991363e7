"""Steps that call a web address or start another automation."""

import json
import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Final

from workspaces.automations.execution.running import EXPIRED, Config, Execution, Executor, Leave, Outcome, Pause
from workspaces.automations.execution.types import (
    CallEnded,
    CallHttp,
    RunEvent,
    StartAutomation,
    TimedOut,
    Wait,
    WaitKind,
)
from workspaces.automations.execution.variables import render_address, render_values

# An outside call is over after this time, even if its result was lost.
LONGEST_CALL: Final = timedelta(minutes=5)
LONGEST_BODY: Final = 16_384
LONGEST_HEADER: Final = 2_048
CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")


def wait_for_call(run: Execution) -> Pause:
    return Pause(Wait(WaitKind.CALL, run.context.now + LONGEST_CALL))


def call_is_late(event: RunEvent, port: str) -> Leave | None:
    """Leave the step if the call's deadline has passed without a result."""
    return Leave(port, EXPIRED) if isinstance(event, TimedOut) else None


def _http_call(run: Execution, config: Config) -> Outcome:
    run.do(
        CallHttp(
            method=config["method"],
            url=render_address(run, config["url"]),
            headers=tuple(_header(run, header) for header in config.get("headers") or ()),
            body=_body(run, config.get("body") or ""),
        )
    )
    return wait_for_call(run)


def _header(run: Execution, header: Mapping[str, str]) -> tuple[str, str]:
    value = render_values(run, header.get("value") or "", str)
    return CONTROL.sub("", header["name"]).strip(), CONTROL.sub(" ", value).strip()[:LONGEST_HEADER]


def _body(run: Execution, body: str) -> str:
    """Write the body. In a body of JSON, values are escaped so that they stay within their quotes."""
    is_json = body.lstrip().startswith(("{", "["))
    return render_values(run, body, _within_quotes if is_json else str)[:LONGEST_BODY]


def _within_quotes(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)[1:-1]


def _http_call_ended(run: Execution, config: Config, event: RunEvent) -> Outcome | None:
    if not isinstance(event, CallEnded):
        return call_is_late(event, "failure")
    status = event.result.get("status")
    if config.get("save_as"):
        run.save_answer(config["save_as"], str(event.result.get("text") or ""))
    if event.ok and isinstance(status, int) and 200 <= status < 300:
        return Leave("success")
    return Leave("failure", event.code or f"status_{status}"[:40])


def _start_automation(run: Execution, config: Config) -> Leave:
    run.do(StartAutomation(config["automation"]))
    return Leave()


OUTSIDE_EXECUTORS: Final[Mapping[str, Executor]] = {
    "http_call": Executor(_http_call, _http_call_ended),
    "start_automation": Executor(_start_automation),
}
