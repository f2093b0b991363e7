"""The test surfaces as a server loads them; the one caller's key comes from the environment."""

import os

from django.conf import settings
from django.core.wsgi import get_wsgi_application

from config.api.keys import key_digest

settings.ROOT_URLCONF = "tests.api.surfaces.urls"

from config.serving.application import WSGIInThreads  # noqa: E402  # needs the settings

application = WSGIInThreads(get_wsgi_application(), threads=4, database_seconds=5.5)

from tests.api.surfaces.surfaces import Holder, surface_state  # noqa: E402  # needs the application

surface_state.holders[key_digest(os.environ["TEST_KEY"])] = Holder("the one caller")
