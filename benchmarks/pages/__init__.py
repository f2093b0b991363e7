"""Benchmarks of the pages that people open."""
