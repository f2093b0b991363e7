"""Tracked links on the web server's event loop. An answer from memory costs a third of an answer through Django."""

from agency.pages.branding.host import host_at_once
from broadcasts.public.bots import is_person
from broadcasts.public.views import HEADERS
from broadcasts.services.tracking.clicks import follow_link_at_once, waiting_clicks
from broadcasts.services.tracking.links import PATH
from config.loop_answers import LoopAnswer, LoopPath, LoopRequest

RAW_HEADERS = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]


def follow_at_once(request: LoopRequest) -> LoopAnswer | None:
    """Redirect if this process knows the host and the broadcast. The click is recorded with others of the moment."""
    host = host_at_once(request.header(b"host"))
    if host is None:
        return None
    followed = follow_link_at_once(request.path.removeprefix(PATH), host_agency=host.agency_id)
    if followed is None:
        return None
    is_click = request.method == "GET" and is_person(lambda name: request.header(name.lower().encode()))
    must_record = is_click and waiting_clicks.add(followed.link)
    return LoopAnswer(
        302,
        [*RAW_HEADERS, (b"location", followed.address.encode("latin-1"))],
        is_installations=host.agency_id is None,
        afterwards=waiting_clicks.record if must_record else None,
    )


TRACKED_LINKS = LoopPath(PATH, follow_at_once)
