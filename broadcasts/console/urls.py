"""The console's pages about broadcasts, below `/console/` and in the namespace `console`."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
