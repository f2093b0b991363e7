"""This app's registrations."""
