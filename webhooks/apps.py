from django.apps import AppConfig
from django.db.models.signals import post_migrate

from config.hooks import load_hooks


class WebhooksConfig(AppConfig):
    name = "webhooks"
    verbose_name = "Webhooks"

    def ready(self) -> None:
        load_hooks(self)
        post_migrate.connect(make_partitions, sender=self)


def make_partitions(**_: object) -> None:
    """Create partitions after each migration, so that a new database accepts deliveries at once."""
    from webhooks.services.partitions import make_partitions_ahead

    make_partitions_ahead()
