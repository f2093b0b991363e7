"""The demonstration's webhook: registered once, whatever breaks meanwhile, and removed at the end."""

from contextlib import suppress

from tools.demo.api import AgencyAPI, Answer, DemoFailed

DESCRIPTION = "Receiver of the demonstration"
LAST_PATIENCE_SECONDS = 10.0


def register(api: AgencyAPI, url: str) -> tuple[str, Answer]:
    """Subscribe the receiver to every event; gives its signing secret and the answer."""
    events = [entry["event"] for entry in api.call("GET", "/webhooks/events").data]
    answer = api.call("POST", "/webhooks", {"url": url, "events": events, "description": DESCRIPTION})
    if answer.repeated:  # an earlier try may have registered it too, with a secret that nobody has seen
        _remove(api, url, but=answer.data["uuid"])
    return answer.data["secret"], answer


def unregister(api: AgencyAPI, url: str) -> None:
    """Remove the receiver's webhook, however the demonstration has ended; a system that is gone keeps it."""
    api.patience = LAST_PATIENCE_SECONDS
    with suppress(DemoFailed):
        _remove(api, url)


def _remove(api: AgencyAPI, url: str, but: str = "") -> None:
    for endpoint in api.call("GET", "/webhooks").data:
        if endpoint["url"] == url and endpoint["uuid"] != but:
            api.call("DELETE", f"/webhooks/{endpoint['uuid']}", also=(404,))
