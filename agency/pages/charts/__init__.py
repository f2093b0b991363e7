"""Charts of an agency over time: what apps count for them, and how they are drawn as SVG."""

from agency.pages.charts.drawing import PERIODS, ChartSource, Period, Series, StepOf, chart_sources, charts_of

__all__ = ["PERIODS", "ChartSource", "Period", "Series", "StepOf", "chart_sources", "charts_of"]
