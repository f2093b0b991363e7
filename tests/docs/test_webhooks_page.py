"""What docs/webhooks.md shows is what the product sends, and its samples verify."""

import hashlib
import hmac
import json
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from agency.event_types import event_labels
from tests.config.http.receivers import Receiver, answer
from webhooks.pages.deliveries import ERROR_LABELS
from webhooks.pages.endpoints import HERE, samples
from webhooks.services.deliveries import sample_envelope
from webhooks.services.endpoints import new_secret
from webhooks.signing import Signer, headers

PAGE = (Path(__file__).parents[2] / "docs" / "webhooks.md").read_text()


@pytest.mark.parametrize("event", event_labels())
def test_the_page_shows_a_full_sample_of_every_event(event: str) -> None:
    assert json.dumps(json.loads(sample_envelope(event)), indent=2) in PAGE


@pytest.mark.parametrize("error", ERROR_LABELS)
def test_the_page_names_every_error(error: str) -> None:
    assert f"`{error}`" in PAGE


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
    assert not is_genuine(body, None, secret)


def test_the_page_shows_the_librarys_sample_first_and_it_takes_a_genuine_delivery_and_no_other() -> None:
    names: dict[str, Any] = {}
    exec(compile((HERE / "verify_standard.py.txt").read_text(), "verify.py", "exec"), names)  # noqa: S102  # the sample itself is under test
    read_event = names["read_event"]
    body, secret, moment = sample_envelope("workspace.created"), new_secret(), int(time.time())
    signature = Signer(secret).sign(envelope_id="an-id", timestamp=moment, body=body)
    sent = dict(headers(event="workspace.created", envelope_id="an-id", signature=signature))
    old = Signer(secret).sign(envelope_id="an-id", timestamp=moment - 400, body=body)
    assert read_event(body, sent, secret) == json.loads(body)
    for changed in (
        (body + b" ", sent, secret),
        (body, sent, new_secret()),
        (body, sent | {"webhook-signature": "v1"}, secret),
        (body, {}, secret),
        *((body, {name: value for name, value in sent.items() if name != missing}, secret) for missing in STANDARD),
        (body, dict(headers(event="workspace.created", envelope_id="an-id", signature=old)), secret),
    ):
        assert read_event(*changed) is None
    assert PAGE.index("standardwebhooks") < PAGE.index("X-Svc-Signature over")


STANDARD = ("webhook-id", "webhook-timestamp", "webhook-signature")


def run(arguments: list[str], cwd: Path, **variables: str) -> str:
    env = {"PATH": "/usr/local/bin:/usr/bin:/bin", **variables}
    return subprocess.run(arguments, cwd=cwd, env=env, capture_output=True, check=True, text=True).stdout.strip()


def test_the_shell_sample_takes_a_genuine_delivery_and_no_other_and_signs_as_we_do(tmp_path: Path) -> None:
    """Run as it is read_delivery, beside a receiver of the reader's own."""
    body, secret = sample_envelope("addon.granted"), new_secret()
    (tmp_path / "body.json").write_bytes(body)
    receiver = Receiver(answer())
    try:
        for given, said in (
            ({"SIGNATURE": signed(body, secret)}, "genuine"),
            ({"SIGNATURE": signed(body, "another")}, "forged"),
            ({"SIGNATURE": ""}, "forged"),
            ({}, "forged"),
        ):
            variables = {"SECRET": secret, **given, "RECEIVER": f"http://127.0.0.1:{receiver.port}/"}
            assert run(["sh", "-u", str(HERE / "verify.sh")], tmp_path, **variables) == said
    finally:
        receiver.close()
    assert {one.headers["x-svc-signature"] for one in receiver.requests} == {signed(body, secret)}
    assert {one.body for one in receiver.requests} == {body}


NODE = """import { isGenuine } from "%s"; import { readFileSync } from "node:fs";
console.log(isGenuine(readFileSync("body.json"), process.env.SIGNATURE, process.env.SECRET))"""
PHP = """require "%s"; echo json_encode(
is_genuine(file_get_contents("body.json"), getenv("SIGNATURE") ?: null, getenv("SECRET")));"""
RUNNERS = {
    "node": ["--input-type=module", "-e", NODE % (HERE / "verify.mjs")],
    "php": ["-r", PHP % (HERE / "verify.php")],
}


@pytest.mark.parametrize("program", [name for name in RUNNERS if shutil.which(name)])
def test_the_other_samples_take_a_genuine_delivery_and_no_other(tmp_path: Path, program: str) -> None:
    """Wherever the language is installed."""
    body, secret = sample_envelope("addon.granted"), new_secret()
    (tmp_path / "body.json").write_bytes(body)
    others = [{"SIGNATURE": given} for given in (signed(body, "another"), "sha256=ü")]
    for given, said in (({"SIGNATURE": signed(body, secret)}, "true"), *((other, "false") for other in [*others, {}])):
        assert run([program, *RUNNERS[program]], tmp_path, SECRET=secret, **given) == said
