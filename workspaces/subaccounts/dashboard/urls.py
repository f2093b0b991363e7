"""The dashboard's first pages, below `/app/` and in the namespace `app`."""

from django.urls import path

import config.api.requests.ids  # noqa: F401 - makes `<id:…>` known
from workspaces.subaccounts.dashboard.views import channels, keys, landing, settings

urlpatterns = [
    path("", landing.LandingPage.as_view(), name="home"),
    path("choose", landing.ChooseWorkspace.as_view(), name="choose"),
    path("switch", landing.SwitchWorkspace.as_view(), name="switch"),
    path("leave/<id:uuid>", landing.LeaveWorkspace.as_view(), name="leave"),
    path("settings", settings.Settings.as_view(), name="settings"),
    path("api", keys.KeyList.as_view(), name="api-keys"),
    path("api/new", keys.KeyNew.as_view(), name="api-key-new"),
    path("api/<id:uuid>/revoke", keys.KeyRevoke.as_view(), name="api-key-revoke"),
    path("channels", channels.Channels.as_view(), name="channels"),
    path("channels/<id:uuid>/disconnect", channels.DisconnectChannel.as_view(), name="channel-disconnect"),
]
