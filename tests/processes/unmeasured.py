"""Processes whose coverage is not measured: whole systems take a multiple of their time with it, and add nothing."""

from collections.abc import Mapping


def unmeasured(environment: Mapping[str, str]) -> dict[str, str]:
    """Give an environment in which Python does not measure itself."""
    return {name: value for name, value in environment.items() if not name.startswith("COVERAGE_PROCESS")}
