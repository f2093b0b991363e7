"""Charts of an agency over time: apps count, and the server draws the counts as SVG."""

from agency.pages.charts.drawing import PERIODS, ChartSource, Period, Series, StepOf, chart_sources, charts_of

__all__ = ["PERIODS", "ChartSource", "Period", "Series", "StepOf", "chart_sources", "charts_of"]
