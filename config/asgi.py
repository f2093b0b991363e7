"""The ASGI entry point. Granian loads it to serve the product."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

from django.conf import settings  # needs DJANGO_SETTINGS_MODULE

from config.postgresql.base import GRACE_SECONDS
from config.serving.application import WSGIInThreads

application = WSGIInThreads(
    get_wsgi_application(),
    threads=settings.WEB_THREADS,
    database_seconds=settings.STATEMENT_TIMEOUT_MS / 1000 + GRACE_SECONDS,
)
