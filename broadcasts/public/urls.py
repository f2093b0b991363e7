"""Tracked links, below `/l/`."""

from django.urls import path

from broadcasts.public.views import follow

app_name = "links"
urlpatterns = [path("<str:token>", follow, name="follow")]
