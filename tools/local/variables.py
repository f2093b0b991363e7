"""The environment variables of a development system. Its secrets are made at the first start and kept."""

import base64
import json
import os
import secrets
from pathlib import Path

from tools.local.state import SECRETS, read_json, write_private

DEFAULT_PORT = 8000


def chosen_port() -> int:
    """Give the port in the variable `PORT`, or the default."""
    chosen = os.environ.get("PORT", "")
    return int(chosen) if chosen.isascii() and chosen.isdigit() and int(chosen) else DEFAULT_PORT


def development_variables(state: Path, *, port: int) -> dict[str, str]:
    """Give the variables that the product needs beside those of its servers; the environment's own values win."""
    chosen = {
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "ENVIRONMENT": "development",
        "LOG_FORMAT": "plain",
        "MEDIA_DIRECTORY": str(state.absolute() / "media"),
        "PORT": str(port),
        "PUBLIC_URL": public_url(port),
        "WEBHOOK_ALLOWED_NETWORKS": "127.0.0.0/8,::1/128",
        **kept_secrets(state),
    }
    given = {name: os.environ[name] for name in chosen if os.environ.get(name) and name != "PORT"}
    return chosen | given


def public_url(port: int) -> str:
    return (os.environ.get("PUBLIC_URL") or f"http://127.0.0.1:{port}").rstrip("/")


def kept_secrets(state: Path) -> dict[str, str]:
    """Give this state folder's secrets; make them at the first start."""
    found = read_json(state / SECRETS)
    if not found:
        found = new_secrets()
        write_private(state / SECRETS, json.dumps(found, indent=1))
    return {name: str(value) for name, value in found.items()}


def new_secrets() -> dict[str, str]:
    return {
        "SECRET_KEY": secrets.token_urlsafe(48),
        "FIELD_ENCRYPTION_KEYS": base64.urlsafe_b64encode(secrets.token_bytes(32)).decode(),
    }
