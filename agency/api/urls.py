"""Paths of the agency surface that the agency itself answers."""

from django.urls import path

from agency.api.catalogue import AddonViewSet, PlanViewSet

urlpatterns = [
    path("plans", PlanViewSet.as_view({"get": "list"}), name="plans"),
    path("addons", AddonViewSet.as_view({"get": "list"}), name="addons"),
]
