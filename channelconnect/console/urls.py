"""Console pages about connecting channels, below `/console/` and in the console's namespace."""

from django.urls import path

from channelconnect.console.views import sessions, settings

AT = "configuration/channel-connect"

urlpatterns = [
    path(AT, sessions.Overview.as_view(), name="channel-connect"),
    path(f"{AT}/return-urls", settings.ReturnUrls.as_view(), name="channel-connect-return-urls"),
    path(f"{AT}/start", sessions.ChooseSubAccount.as_view(), name="channel-connect-start"),
    path(f"{AT}/start/<id:uuid>", sessions.Start.as_view(), name="channel-connect-start-for"),
    path(f"{AT}/connections/<id:uuid>/cancel", sessions.Cancel.as_view(), name="channel-connect-cancel"),
]
