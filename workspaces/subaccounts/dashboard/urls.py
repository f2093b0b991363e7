"""The dashboard's first pages, below `/app/` and in the namespace `app`."""

from django.urls import path

import config.api.ids  # noqa: F401 - makes `<id:…>` known
from workspaces.subaccounts.dashboard.views import arriving, channels

urlpatterns = [
    path("", arriving.Home.as_view(), name="home"),
    path("choose", arriving.Choose.as_view(), name="choose"),
    path("switch", arriving.Switch.as_view(), name="switch"),
    path("channels", channels.Channels.as_view(), name="channels"),
]
