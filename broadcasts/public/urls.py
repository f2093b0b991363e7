"""Tracked links, below `/l/`."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
