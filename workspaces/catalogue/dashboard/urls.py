"""The dashboard's pages about products and services, below `/app/` and in the namespace `app`."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
