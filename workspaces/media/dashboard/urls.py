"""The dashboard's pages about media, below `/app/` and in the namespace `app`."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
