"""Measures every published figure: ratios within one run, on separate servers with durable settings."""
