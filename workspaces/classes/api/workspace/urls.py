"""Paths of the workspace surface about staff and group classes."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
