"""Parses providers' signed callbacks into typed facts."""
