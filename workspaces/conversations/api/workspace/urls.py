"""Paths of the workspace surface about conversations and messages."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
