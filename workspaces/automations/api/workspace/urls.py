"""Paths of the workspace surface about automations."""

from django.urls import path

from workspaces.automations.api.workspace.automations import AutomationViewSet

urlpatterns = [
    path("automations", AutomationViewSet.as_view({"get": "list"}), name="automations"),
    path(
        "automations/<id:automation>",
        AutomationViewSet.as_view({"get": "retrieve"}, paginated=False),
        name="automation",
    ),
]
