"""The product as a web server loads it, but that it hears of domains by notifications alone."""

from typing import Any

from config.asgi import application

# Django is there now.
from agency.services import hosts  # isort: skip

AN_HOUR = 3_600.0
changed: Any = (hosts, hosts)
changed[0].REREAD_SECONDS = changed[1].LONGEST_AGE_SECONDS = AN_HOUR

__all__ = ["application"]
