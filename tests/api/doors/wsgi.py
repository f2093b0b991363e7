"""The doors as a server loads them; the one caller's key comes from the environment."""

import os

from django.conf import settings
from django.core.wsgi import get_wsgi_application

from config.api.keys import key_digest

settings.ROOT_URLCONF = "tests.api.doors.urls"
application = get_wsgi_application()

from tests.api.doors.surfaces import Holder, doors  # noqa: E402  # needs the application

doors.holders[key_digest(os.environ["DOOR_KEY"])] = Holder("the one caller")
