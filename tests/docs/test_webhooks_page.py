"""What docs/webhooks.md shows is what the product sends, and its samples verify."""

import hashlib
import hmac
import json
import secrets
import subprocess
from pathlib import Path
from typing import Any

import pytest

from webhooks.services.catalogue import known_events
from webhooks.services.endpoints import new_secret
from webhooks.services.samples import sample_envelope
from webhooks.verification import HERE, samples

PAGE = (Path(__file__).parents[2] / "docs" / "webhooks.md").read_text()


@pytest.mark.parametrize("event", known_events())
def test_the_page_shows_a_full_sample_of_every_event(event: str) -> None:
    assert json.dumps(json.loads(sample_envelope(event)), indent=2) in PAGE


@pytest.mark.parametrize("sample", samples(), ids=lambda sample: sample.language)
def test_the_page_shows_the_samples_that_the_console_shows(sample: Any) -> None:
    assert sample.text in PAGE


def signed(body: bytes, secret: str) -> str:
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def test_the_python_sample_takes_a_genuine_delivery_and_no_other() -> None:
    names: dict[str, Any] = {}
    exec(compile((HERE / "verify.py.txt").read_text(), "verify.py", "exec"), names)  # noqa: S102  # the sample itself is under test
    is_genuine = names["is_genuine"]
    body, secret = sample_envelope("workspace.created"), new_secret()
    assert is_genuine(body, signed(body, secret), secret)
    assert not is_genuine(body + b" ", signed(body, secret), secret)
    assert not is_genuine(body, signed(body, new_secret()), secret)
    assert not is_genuine(body, "sha256=ü", secret)
    assert not is_genuine(body, "", secret)


def test_the_shell_sample_signs_as_we_do(tmp_path: Path) -> None:
    """Only its first line is run: the one that makes the signature."""
    body, secret = sample_envelope("addon.granted"), secrets.token_urlsafe(32)
    (tmp_path / "body.json").write_bytes(body)
    signing = next(line for line in (HERE / "verify.sh").read_text().splitlines() if line.startswith("SIGNATURE="))
    script = f'{signing}\nprintf %s "$SIGNATURE"'
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=tmp_path,
        env={"SECRET": secret, "PATH": "/usr/bin:/bin"},
        capture_output=True,
        check=True,
    )
    assert "sha256=" + done.stdout.decode() == signed(body, secret)
