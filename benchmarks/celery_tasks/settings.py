"""The product's settings, plus the published package and kept database connections."""

from config.settings import *  # noqa: F403  # they are extended
from config.settings import DATABASES, INSTALLED_APPS

INSTALLED_APPS = [*INSTALLED_APPS, "django_webhook"]
DATABASES = {"default": {**DATABASES["default"], "CONN_MAX_AGE": None}}
DJANGO_WEBHOOK: dict[str, list[str]] = {"MODELS": []}
