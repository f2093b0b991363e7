"""Imports of many contacts, from an API call or from an uploaded file."""
