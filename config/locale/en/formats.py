"""Dates and times of the admin. Each time says of which zone it is, which is UTC there."""

from typing import Final

DATE_FORMAT: Final = "j M Y"
DATETIME_FORMAT: Final = "j M Y, H:i T"
TIME_FORMAT: Final = "H:i"
