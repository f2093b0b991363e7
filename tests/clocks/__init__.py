"""Hosts whose clocks disagree: the product's own processes with a clock that is set by the test."""
