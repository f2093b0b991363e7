"""Settings of the provider's app, signatures of its callbacks, and the proof that our address is ours."""

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from django.conf import settings


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderSettings:
    """The settings of the clients. `*_config_id` name Login for Business configurations.

    Without a configuration the consent asks for scopes by name.
    """

    graph_url: str
    dialog_url: str
    version: str
    app_id: str
    app_secret: str = field(repr=False)
    whatsapp_config_id: str = ""
    facebook_config_id: str = ""
    instagram_config_id: str = ""
    webhook_verify_token: str = field(default="", repr=False)

    @property
    def has_app(self) -> bool:
        return bool(self.app_id and self.app_secret)

    @property
    def app_token(self) -> str:
        return f"{self.app_id}|{self.app_secret}"

    def config_id(self, platform: str) -> str:
        found: str = getattr(self, f"{platform}_config_id")
        return found


def provider_settings() -> ProviderSettings:
    """Read them from Django's settings."""
    return ProviderSettings(
        graph_url=settings.META_GRAPH_URL.rstrip("/"),
        dialog_url=settings.META_DIALOG_URL.rstrip("/"),
        version=settings.META_GRAPH_VERSION.strip("/"),
        app_id=settings.META_APP_ID,
        app_secret=settings.META_APP_SECRET,
        whatsapp_config_id=settings.META_WHATSAPP_CONFIG_ID,
        facebook_config_id=settings.META_FACEBOOK_CONFIG_ID,
        instagram_config_id=settings.META_INSTAGRAM_CONFIG_ID,
        webhook_verify_token=settings.META_WEBHOOK_VERIFY_TOKEN,
    )


PREFIX: Final = "sha256="


def sign(body: bytes, secret: str) -> str:
    """Return the value of `X-Hub-Signature-256` for a body."""
    return PREFIX + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def verify_signature(body: bytes, header: str | None, secret: str) -> bool:
    """Verify a signature over the raw body, in constant time. Without a secret no signature is valid."""
    if not secret or not header:
        return False
    return hmac.compare_digest(sign(body, secret).encode(), header.encode("utf-8", "replace"))


def answer_challenge(query: Mapping[str, str], verify_token: str) -> str | None:
    """Return the text that proves to the provider that this address is ours; None refuses the challenge."""
    given = query.get("hub.verify_token", "")
    is_ours = bool(verify_token) and hmac.compare_digest(given.encode("utf-8", "replace"), verify_token.encode())
    if query.get("hub.mode") != "subscribe" or not is_ours:
        return None
    return query.get("hub.challenge", "")
