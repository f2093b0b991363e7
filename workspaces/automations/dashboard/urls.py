"""Routes of the dashboard's pages about automations, below `/app/` and in the namespace `app`."""

from django.urls import path

from workspaces.automations.dashboard.views import automations, listing, prerequisites, ready

urlpatterns = [
    path("automations", listing.Automations.as_view(), name="automations"),
    path("automations/ready", ready.AutomationsReady.as_view(), name="automations-ready"),
    path("automations/<id:uuid>", automations.AutomationPage.as_view(), name="automation"),
    path("automations/<id:uuid>/on", automations.AutomationOn.as_view(), name="automation-on"),
    path("automations/<id:uuid>/off", automations.AutomationOff.as_view(), name="automation-off"),
    path("automations/<id:uuid>/remove", automations.AutomationRemove.as_view(), name="automation-remove"),
    path("prerequisites", prerequisites.Prerequisites.as_view(), name="prerequisites"),
]
