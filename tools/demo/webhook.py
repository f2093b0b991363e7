"""The demonstration's webhook: registered once, even if a call has to be repeated, and removed at the end."""

from contextlib import suppress

from tools.demo.api import Answer, DemoFailed, PatientClient

DESCRIPTION = "Receiver of the demonstration"
LAST_PATIENCE_SECONDS = 10.0


def register(api: PatientClient, url: str) -> tuple[str, Answer]:
    """Subscribe the receiver to every event; give its signing secret and the answer."""
    events = [entry["event"] for entry in api.call("GET", "/webhooks/events").data]
    answer = api.call("POST", "/webhooks", {"url": url, "events": events, "description": DESCRIPTION})
    if answer.repeated:  # an earlier try may have registered a second webhook, whose secret is lost
        _remove(api, url, but=answer.data["uuid"])
    return answer.data["secret"], answer


def unregister(api: PatientClient, url: str) -> None:
    """Remove the receiver's webhook. If the system does not answer any more, the webhook stays."""
    api.patience = LAST_PATIENCE_SECONDS
    with suppress(DemoFailed):
        _remove(api, url)


def _remove(api: PatientClient, url: str, but: str = "") -> None:
    for endpoint in api.call("GET", "/webhooks").data:
        if endpoint["url"] == url and endpoint["uuid"] != but:
            api.call("DELETE", f"/webhooks/{endpoint['uuid']}", also=(404,))
