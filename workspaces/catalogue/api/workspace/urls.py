"""Paths of the workspace surface about products and services."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
