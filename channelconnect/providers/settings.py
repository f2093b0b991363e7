"""The clients' settings: the Graph API's addresses and our app."""

from dataclasses import dataclass, field

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
