"""Packs in the customers' dashboard: the gallery and installs."""
