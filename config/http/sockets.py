"""Connects libcurl's sockets to the operating system's selector."""

import selectors
import socket
from typing import Final

import pycurl

_READ, _WRITE = selectors.EVENT_READ, selectors.EVENT_WRITE
_EVENTS: Final[dict[int, int]] = {
    pycurl.POLL_NONE: 0,
    pycurl.POLL_IN: _READ,
    pycurl.POLL_OUT: _WRITE,
    pycurl.POLL_INOUT: _READ | _WRITE,
}
_CURL_FLAGS: Final[dict[int, int]] = {
    _READ: pycurl.CSELECT_IN,
    _WRITE: pycurl.CSELECT_OUT,
    _READ | _WRITE: pycurl.CSELECT_IN | pycurl.CSELECT_OUT,
}


class SocketWatch:
    """Watches the sockets that libcurl asks for, with as few system calls as possible.

    libcurl lets go of a socket after each request, and asks for it again with the next request on the same connection.
    So a socket that was let go stays registered: it is parked. Once another socket was opened, it may have the number
    of a parked one, so a parked socket is registered anew when it comes back.
    """

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self._watched: dict[int, int] = {}  # descriptor to events
        self._parked: dict[int, int] = {}  # descriptor to the generation in which it was let go
        self._generation = 0
        self.was_idle = False  # whether the last `wait` found nothing ready at first
        self._wake_reader, self._wake_writer = socket.socketpair()
        self._wake_reader.setblocking(False)
        self._wake_writer.setblocking(False)
        self._selector.register(self._wake_reader, _READ)

    def note_new_socket(self) -> None:
        """Call this whenever libcurl opens a socket."""
        self._generation += 1

    def follow(self, what: int, descriptor: int, _multi: object, _data: object) -> None:
        """libcurl's socket callback."""
        if what == pycurl.POLL_REMOVE:
            self._parked[descriptor] = self._generation
            return
        still_its_own = self._parked.pop(descriptor, self._generation) == self._generation
        wanted = _EVENTS[what]
        if still_its_own and self._watched.get(descriptor) == wanted:
            return
        # Registered anew, not modified: an exception in this callback would stop all of libcurl's transfers.
        self._forget(descriptor)
        if wanted:
            self._selector.register(descriptor, wanted)
            self._watched[descriptor] = wanted

    def wait(self, timeout_s: float) -> list[tuple[int, int]]:
        """Return descriptors that are ready, each with libcurl's flags; none after `timeout_s` or a wake-up."""
        ready = []
        found = self._selector.select(0.0)
        self.was_idle = not found
        if not found and timeout_s > 0:
            found = self._selector.select(timeout_s)
        for key, events in found:
            descriptor = key.fd
            if descriptor in self._parked:
                # The receiver closed a connection that nobody uses. libcurl notices by itself.
                self._forget(descriptor)
            elif key.fileobj is self._wake_reader:
                self._drain_wake_ups()
            else:
                ready.append((descriptor, _CURL_FLAGS[events]))
        return ready

    def wake_up(self) -> None:
        """End the current wait, or the next one. Any thread may call this."""
        try:
            self._wake_writer.send(b"\0")
        except OSError:
            return  # full of wake-ups already, or closed

    def close(self) -> None:
        self._selector.close()
        self._wake_reader.close()
        self._wake_writer.close()

    def _drain_wake_ups(self) -> None:
        try:
            while self._wake_reader.recv(4096):
                pass
        except BlockingIOError:
            return

    def _forget(self, descriptor: int) -> None:
        if self._watched.pop(descriptor, 0):
            self._selector.unregister(descriptor)
