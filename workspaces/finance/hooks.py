"""This app's registrations."""

