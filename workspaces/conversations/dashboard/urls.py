"""The dashboard's pages about conversations and messages, below `/app/` and in the namespace `app`."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
