"""The dashboard's pages about broadcasts, below `/app/` and in the namespace `app`."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
