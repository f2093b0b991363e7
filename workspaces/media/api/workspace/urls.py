"""Paths of the workspace surface about media."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
