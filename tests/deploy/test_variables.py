"""Every variable that the settings read stands in compose file, units and guide, or is left out with a reason."""

import ast
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable

import pytest
import yaml

from tests.operations.test_settings import PRODUCTION
from tools.local import ROOT

SETTINGS = (ROOT / "config" / "settings.py").read_text()
COMPOSE_TEXT = (ROOT / "deploy" / "compose.yaml").read_text()
COMPOSE = yaml.safe_load(COMPOSE_TEXT)
ENVIRONMENT_FILE = (ROOT / "deploy" / "environment").read_text()
COMMON = (ROOT / "deploy" / "systemd" / "agency-.service.d" / "common.conf").read_text()
SETTINGS_PAGE = (ROOT / "docs" / "operations" / "settings.md").read_text()
POSTGRESQL_PAGE = (ROOT / "docs" / "operations" / "postgresql.md").read_text()
# Read by Python itself.
NOT_OURS = {"TMPDIR", "PYTHONUNBUFFERED", "DJANGO_SETTINGS_MODULE"}


def read_by_settings() -> set[str]:
    """The first argument of every `env.…(…)`."""
    calls = [node for node in ast.walk(ast.parse(SETTINGS)) if isinstance(node, ast.Call)]
    named = [call for call in calls if isinstance(call.func, ast.Attribute) and ast.unparse(call.func.value) == "env"]
    first = [call.args[0] for call in named if call.args]
    return {name.value for name in first if isinstance(name, ast.Constant) and isinstance(name.value, str)}


def left_out(text: str) -> dict[str, str]:
    """What a file names as left out, with the reason."""
    return dict(re.findall(r"^ *# ([A-Z_]+) - (\S.*)$", text.partition("# Left out:")[2], re.MULTILINE))


def in_compose() -> set[str]:
    return set(COMPOSE["services"]["web"]["environment"]) - NOT_OURS


def in_units() -> set[str]:
    """What the environment file names, set or not, and what the units set themselves."""
    given = set(re.findall(r"^#?([A-Z_]+)=", ENVIRONMENT_FILE, re.MULTILINE))
    [own] = re.findall(r"^Environment=(.*)$", COMMON, re.MULTILINE)
    return given | set(re.findall(r"([A-Z_]+)=", own)) - NOT_OURS


def in_guide() -> set[str]:
    """The names in the first column of the tables of settings."""
    rows = [line.split("|")[1] for line in SETTINGS_PAGE.splitlines() if line.startswith("| `")]
    return {name for row in rows for name in re.findall(r"`([A-Z_]+)`", row)}


def test_the_settings_are_read_from_many_variables() -> None:
    """Else nothing below says anything."""
    assert len(read_by_settings()) > 50
    assert {"META_APP_ID", "MEDIA_BUCKET_URL", "SECRET_KEY", "LOG_FORMAT", "TRUSTED_PROXIES"} <= read_by_settings()


def test_the_compose_file_passes_every_variable_on_or_says_why_not() -> None:
    reasons = left_out(COMPOSE_TEXT)
    assert in_compose() | set(reasons) == read_by_settings()
    assert in_compose() & set(reasons) == set()
    product = [service for service in COMPOSE["services"].values() if service.get("image") == "agency-system"]
    assert len(product) == 10
    assert all(service["environment"] == product[0]["environment"] for service in product)


def test_the_units_take_every_variable_or_say_why_not() -> None:
    assert in_units() | set(left_out(ENVIRONMENT_FILE)) == read_by_settings()
    named = set(re.findall(r"^#?([A-Z_]+)=", ENVIRONMENT_FILE, re.MULTILINE))
    assert named & set(left_out(ENVIRONMENT_FILE)) == set()


def test_the_guide_describes_every_variable() -> None:
    assert in_guide() == read_by_settings()


def test_an_environment_file_as_it_is_delivered_lacks_what_is_needed_and_nothing_else() -> None:
    given = dict(re.findall(r"^([A-Z_]+)=(.*)$", ENVIRONMENT_FILE, re.MULTILINE))
    assert set(given) == set(PRODUCTION) - {"ENVIRONMENT", "MEDIA_DIRECTORY"}
    assert set(given.values()) == {""}


def settings_with(given: dict[str, str]) -> dict[str, str]:
    """What a start with these variables makes of each setting."""
    program = (
        "import json; from config import settings as s; "
        "print(json.dumps({name: repr(getattr(s, name)) for name in dir(s) if name.isupper()}))"
    )
    environment = {"PATH": os.environ["PATH"], **given}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, env=environment, check=True
    )
    found: dict[str, str] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("passed_on", [in_compose, in_units])
def test_a_variable_that_is_passed_on_empty_counts_as_not_set(passed_on: Callable[[], set[str]]) -> None:
    empty = dict.fromkeys(passed_on(), "")
    assert settings_with(empty | PRODUCTION) == settings_with(PRODUCTION)


def test_the_defaults_of_the_environment_file_are_the_settings_own() -> None:
    """A line whose # is taken away changes nothing."""
    shown = dict(re.findall(r"^#([A-Z_]+)=(\S+)$", ENVIRONMENT_FILE, re.MULTILINE))
    shown.pop("TRUSTED_PROXIES")  # an example
    assert settings_with(PRODUCTION | shown) == settings_with(PRODUCTION)


def test_compose_and_guide_ask_postgresql_for_the_same() -> None:
    asked = dict(part.split("=") for part in COMPOSE["services"]["postgres"]["command"] if "=" in part)
    assert asked.keys() == {"max_connections", "max_locks_per_transaction", "log_error_verbosity"}
    assert [
        f"`{name} = {value}`" for name, value in asked.items() if f"`{name} = {value}`" not in POSTGRESQL_PAGE
    ] == []


def test_every_process_of_the_compose_file_is_asked_whether_it_is_well() -> None:
    checks = {name: service.get("healthcheck") for name, service in COMPOSE["services"].items()}
    assert checks.pop("migrations") == {"disable": True}  # it ends
    assert checks.pop("web") is None  # the image's own
    assert [name for name, check in checks.items() if not check or not check.get("test")] == []
    loops = ["worker", "mail", "housekeeping", "dispatcher", "sender", "calls", "beat"]
    assert all(checks[name]["test"] == ["CMD", "python", "-m", "config.heartbeats"] for name in loops)
    assert "HEARTBEAT_DIRECTORY=/run/agency" in COMMON
    assert "\nRuntimeDirectory=agency\n" in COMMON
