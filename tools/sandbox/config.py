"""The sandbox's configuration: the app as which it answers, and the addresses to which it may send browsers."""

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
# Made anew at every start, because a program that knows the app's secret can sign callbacks to the product.
SECRETS: Final = ("META_APP_SECRET", "META_WEBHOOK_VERIFY_TOKEN")


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxConfig:
    """The configuration, read from the variables that the product reads too, so that both agree.

    `redirect_uris` are the registered addresses, matched exactly. Callbacks are posted to `callback_url`.
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
        cls, given: Mapping[str, str] | None = None, *, redirect_uris: tuple[str, ...] = (), callback_url: str = ""
    ) -> Self:
        """Read the variables. A missing one gets its development value, a missing secret a new one."""
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
    """Give the variables that make the product use a sandbox at this address."""
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
