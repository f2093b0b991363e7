"""Forecasts a broadcast: its recipients and their moments, the skipped and their reasons, and the cost."""

from broadcasts.services.forecast.preview import Cost, Preview, Zone, preview
from broadcasts.services.forecast.runs import Counting, ForecastUnavailable
from broadcasts.services.forecast.waves import ForecastWave

__all__ = ["Cost", "Counting", "ForecastUnavailable", "ForecastWave", "Preview", "Zone", "preview"]
