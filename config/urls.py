"""Every door on one page."""

from django.urls import path

from config import health

urlpatterns = [
    path("healthz", health.healthz),
    path("readyz", health.readyz),
]
