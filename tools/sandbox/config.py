"""As which app the sandbox answers, and where it may send browsers."""

import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Self

DEVELOPMENT: Final[dict[str, str]] = {
    "META_APP_ID": "1001",
    "META_WHATSAPP_CONFIG_ID": "5001",
    "META_FACEBOOK_CONFIG_ID": "",
    "META_INSTAGRAM_CONFIG_ID": "",
}
# Made anew for every start: who knows the app's secret can sign callbacks to the product.
SECRETS: Final = ("META_APP_SECRET", "META_WEBHOOK_VERIFY_TOKEN")


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxConfig:
    """The names of the product's own variables hold for the sandbox too, so that both agree.

    `redirect_uris` are the registered ones, matched exactly. `callback_url` is where provider callbacks go.
    """

    app_id: str
    app_secret: str = field(repr=False)
    whatsapp_config_id: str
    facebook_config_id: str
    instagram_config_id: str
    verify_token: str = field(repr=False)
    redirect_uris: tuple[str, ...] = ()
    callback_url: str = ""

    @classmethod
    def read(
        cls,
        given: Mapping[str, str] | None = None,
        *,
        redirect_uris: tuple[str, ...] = (),
        callback_url: str = "",
    ) -> Self:
        """Read the variables, with development's values, and new secrets, for what is missing."""
        source = os.environ if given is None else given
        values = {name: source.get(name) or value for name, value in DEVELOPMENT.items()}
        values |= {name: source.get(name) or secrets.token_hex(16) for name in SECRETS}
        return cls(
            app_id=values["META_APP_ID"],
            app_secret=values["META_APP_SECRET"],
            whatsapp_config_id=values["META_WHATSAPP_CONFIG_ID"],
            facebook_config_id=values["META_FACEBOOK_CONFIG_ID"],
            instagram_config_id=values["META_INSTAGRAM_CONFIG_ID"],
            verify_token=values["META_WEBHOOK_VERIFY_TOKEN"],
            redirect_uris=redirect_uris,
            callback_url=callback_url,
        )

    def platform_of(self, config_id: str) -> str | None:
        known = {
            self.whatsapp_config_id: "whatsapp",
            self.facebook_config_id: "facebook",
            self.instagram_config_id: "instagram",
        }
        return known.get(config_id) if config_id else None


def variables(url: str, config: SandboxConfig) -> dict[str, str]:
    """Give the variables that make the product speak to a sandbox at this address."""
    return {
        "META_GRAPH_URL": url,
        "META_DIALOG_URL": url,
        "META_APP_ID": config.app_id,
        "META_APP_SECRET": config.app_secret,
        "META_WHATSAPP_CONFIG_ID": config.whatsapp_config_id,
        "META_FACEBOOK_CONFIG_ID": config.facebook_config_id,
        "META_INSTAGRAM_CONFIG_ID": config.instagram_config_id,
        "META_WEBHOOK_VERIFY_TOKEN": config.verify_token,
    }
