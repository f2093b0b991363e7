"""Views that show how a request is served, and the application over them, as the web server loads it.

Loaded by that server alone: it changes the settings.
"""

import hashlib
import itertools
import tempfile
import threading
import time
from collections.abc import Iterator
from typing import IO, Any

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import FileResponse, HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.urls import path, re_path
from django.views.decorators.csrf import csrf_exempt

from config.event_streams import EventStreamResponse
from config.request_bodies import MIB, BodyRule, body_rules
from config.serving import bodies
from config.serving.application import WAIT_SECONDS, WSGIInThreads
from tests.config.serving.web import FILE_BYTES, THREADS, Gate

PIECE = b"x" * 65536
BODY_SECONDS = bodies.FIRST_SECONDS
open_streams: set[int] = set()
bodies_begun = 0
receive_all = bodies._receive_all


async def receive_all_and_count(stream: IO[bytes], most: int, receive: bodies.Receive) -> int:
    """Count a body from the moment on at which its time runs."""
    global bodies_begun
    bodies_begun += 1
    return await receive_all(stream, most, receive)


bodies._receive_all = receive_all_and_count
body_rules.add(
    BodyRule("/upload", most_bytes=32 * MIB), BodyRule("/signed", headers=(b"x-signature",), view_refuses=True)
)


@csrf_exempt
def seen(request: HttpRequest, **_: Any) -> HttpResponse:
    """Tell what the view was told."""
    body = request.body if request.path.startswith("/seen") else request.read()
    told = {name: value for name, value in request.META.items() if isinstance(value, str)}
    found = {"meta": told, "path": request.path, "length": len(body), "sha256": hashlib.sha256(body).hexdigest()}
    return JsonResponse(found | {"thread": threading.current_thread().name, "secure": request.is_secure()})


@csrf_exempt
def signed(request: HttpRequest) -> HttpResponse:
    if "HTTP_X_SIGNATURE" not in request.META:
        return HttpResponse("no signature", status=403)
    return HttpResponse(str(len(request.body)))


def ready(_: HttpRequest) -> HttpResponse:
    return JsonResponse({"instance": settings.INSTANCE_ID})


def wait(request: HttpRequest) -> HttpResponse:
    """Hold a thread until the test lets it go."""
    Gate(request.GET["gate"]).hold()
    return HttpResponse("let go")


def limits(request: HttpRequest) -> HttpResponse:
    """Set how long a body may take and how long a request waits for a thread: the product's own without a number."""
    vars(bodies)["FIRST_SECONDS"] = float(request.GET.get("body", BODY_SECONDS))  # constant, but for this server
    application.threads.wait_seconds = float(request.GET.get("thread", WAIT_SECONDS))
    return HttpResponse("set")


def begun(_: HttpRequest) -> HttpResponse:
    """Tell how many bodies have begun, by all requests together."""
    return JsonResponse({"bodies": bodies_begun})


def _pieces(endless: bool, fails: bool, gate: Gate) -> Iterator[bytes]:
    number = time.monotonic_ns()
    open_streams.add(number)
    try:
        yield b"first\n"
        if fails:
            raise ZeroDivisionError
        if not endless:
            gate.hold()
        for _ in itertools.count() if endless else range(3):
            yield PIECE if endless else b"more\n"
    finally:
        open_streams.discard(number)


def stream(request: HttpRequest, kind: str) -> StreamingHttpResponse:
    gate = Gate(request.GET.get("gate", ""))
    return StreamingHttpResponse(_pieces(kind == "endless", kind == "fails", gate))


def streams(request: HttpRequest) -> HttpResponse:
    return JsonResponse({"open": len(open_streams), "threads": threading.active_count()})


def events(request: HttpRequest, topic: str) -> EventStreamResponse:
    return EventStreamResponse(topic, after=request.headers.get("Last-Event-ID", ""))


def listeners(request: HttpRequest) -> HttpResponse:
    return JsonResponse({"open": application.event_streams.size})


def file(request: HttpRequest) -> FileResponse:
    content = tempfile.TemporaryFile()  # noqa: SIM115  # the answer closes it
    content.truncate(FILE_BYTES)
    return FileResponse(content, as_attachment=True, filename="film.bin")


urlpatterns = [
    path("readyz", ready),
    path("signed", signed),
    path("wait", wait),
    path("limits", limits),
    path("begun", begun),
    path("stream/<str:kind>", stream),
    path("streams", streams),
    path("events/<str:topic>", events),
    path("listeners", listeners),
    path("file", file),
    re_path(r"^(?:seen|upload)[\s\S]*\Z", seen),
]
settings.ROOT_URLCONF = __name__
application = WSGIInThreads(get_wsgi_application(), threads=THREADS, database_seconds=5.5)
