"""Pages for customers who connect a channel, and the endpoint of providers' callbacks, below `/connect/`."""

from django.urls import path, register_converter

from channelconnect.pages import callback, landing, provider_events


class LinkConverter:
    """A secret link: 256 bits in URL-safe base64."""

    regex = "[A-Za-z0-9_-]{43}"

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


register_converter(LinkConverter, "link")

app_name = "connect"
urlpatterns = [
    path("callback", callback.Callback.as_view(), name="callback"),
    path("provider-events", provider_events.ProviderEvents.as_view(), name="provider-events"),
    path("s/<id:uuid>", callback.SessionPage.as_view(), name="session"),
    path("s/<id:uuid>/choose", callback.SelectAccount.as_view(), name="select-account"),
    path("s/<id:uuid>/continue", landing.ContinueSession.as_view(), name="session-continue"),
    path("s/<id:uuid>/cancel", landing.CancelSession.as_view(), name="session-cancel"),
    path("<link:link>", landing.Landing.as_view(), name="landing"),
    path("<link:link>/continue", landing.ContinueLink.as_view(), name="continue"),
    path("<link:link>/cancel", landing.CancelLink.as_view(), name="cancel"),
]
