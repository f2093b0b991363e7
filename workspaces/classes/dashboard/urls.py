"""The dashboard's pages about staff and group classes, below `/app/` and in the namespace `app`."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
