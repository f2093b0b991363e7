"""The agency app's own paths on the agency surface."""

from django.urls import path

from agency.api.views import AddonViewSet, PlanViewSet

urlpatterns = [
    path("plans", PlanViewSet.as_view({"get": "list", "post": "create"}), name="plans-list"),
    path("addons", AddonViewSet.as_view({"get": "list", "post": "create"}), name="addons-list"),
    path(
        "plans/<id:plan>",
        PlanViewSet.as_view({"get": "retrieve", "patch": "partial_update", "delete": "destroy"}),
        name="plans-detail",
    ),
    path(
        "addons/<id:addon>",
        AddonViewSet.as_view({"get": "retrieve", "patch": "partial_update", "delete": "destroy"}),
        name="addons-detail",
    ),
]
