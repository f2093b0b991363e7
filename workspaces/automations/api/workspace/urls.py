"""The workspace API's routes for automations."""

from django.urls import path

from workspaces.automations.api.workspace.views import AutomationViewSet

urlpatterns = [
    path("automations", AutomationViewSet.as_view({"get": "list"}), name="automations-list"),
    path("automations/<id:automation>", AutomationViewSet.as_view({"get": "retrieve"}), name="automations-detail"),
]
