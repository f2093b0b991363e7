"""What would come of a broadcast: whom it would reach and when, whom it would skip and why, and what it would cost."""

from broadcasts.services.forecast.preview import Cost, Preview, Zone, preview
from broadcasts.services.forecast.runs import Counting, ForecastUnavailable
from broadcasts.services.forecast.waves import ForecastWave

__all__ = ["Cost", "Counting", "ForecastUnavailable", "ForecastWave", "Preview", "Zone", "preview"]
