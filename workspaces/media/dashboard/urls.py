"""Routes of the dashboard's pages about media. There are none yet."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
