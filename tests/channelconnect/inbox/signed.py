"""Signed callbacks over HTTP."""

import hashlib
import hmac
import json
from typing import Any

from django.test import Client
from django.utils.timezone import now

from channelconnect.inbox.reading import read_waiting
from tests.channelconnect.inbox.notices import INSTAGRAM, PAGE
from tools.sandbox import RunningSandbox


def post(meta: RunningSandbox, body: bytes) -> None:
    """Send a signed callback and read it."""
    proof = "sha256=" + hmac.new(meta.config.app_secret.encode(), body, hashlib.sha256).hexdigest()
    headers = {"X-Hub-Signature-256": proof}
    answer = Client().post("/connect/provider-events", body, content_type="application/json", headers=headers)
    assert answer.status_code == 200
    read_waiting()


def event(platform: str, **event: Any) -> bytes:
    """A message or another event of Ada on Messenger or Instagram."""
    account = PAGE if platform == "facebook" else INSTAGRAM
    at = int(now().timestamp() * 1000) - 60_000
    ends = {"sender": {"id": "91"}, "recipient": {"id": account}, "timestamp": at}
    entry = [{"id": account, "time": at, "messaging": [ends | event]}]
    return json.dumps({"object": "page" if platform == "facebook" else "instagram", "entry": entry}).encode()
