"""Paths of the workspace surface about contacts and segments."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
