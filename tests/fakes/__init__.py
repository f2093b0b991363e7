"""Servers of the outside world, played on loopback."""
