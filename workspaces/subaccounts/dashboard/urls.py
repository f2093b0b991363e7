"""The dashboard's first pages, below `/app/` and in the namespace `app`."""

from django.urls import path

import config.api.requests.ids  # noqa: F401 - makes `<id:…>` known
from workspaces.subaccounts.dashboard.views import channels, landing, settings

urlpatterns = [
    path("", landing.LandingPage.as_view(), name="home"),
    path("choose", landing.ChooseWorkspace.as_view(), name="choose"),
    path("switch", landing.SwitchWorkspace.as_view(), name="switch"),
    path("settings", settings.Settings.as_view(), name="settings"),
    path("channels", channels.Channels.as_view(), name="channels"),
]
