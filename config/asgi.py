"""The ASGI entry point that granian loads: how the product is served."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

from django.conf import settings  # needs the name of the settings

from config.postgresql.waits import GRACE_SECONDS
from config.serving.application import WSGIInThreads

application = WSGIInThreads(
    get_wsgi_application(),
    threads=settings.WEB_THREADS,
    database_seconds=settings.STATEMENT_TIMEOUT_MS / 1000 + GRACE_SECONDS,
)
