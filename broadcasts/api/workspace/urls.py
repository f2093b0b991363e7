"""Paths of the workspace surface about broadcasts."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
