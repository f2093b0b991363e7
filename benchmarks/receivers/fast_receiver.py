"""A receiver that is as cheap as Python allows: it answers every POST with 204 at once.

`python -m benchmarks.receivers.fast_receiver [addresses [certificate]]` prints its port, which is the same at all its
addresses of 127.0.0.0/8. With a file that holds a certificate and its key it speaks TLS.
"""

import resource
import select
import socket
import ssl
import sys
from ipaddress import IPv4Address

REQUEST = b"POST /"
ANSWER = b"HTTP/1.1 204 No Content\r\nServer: bench\r\n\r\n"
FIRST = IPv4Address("127.0.0.1")
BACKLOG = 1024


def loopback(count: int) -> list[str]:
    """Give `count` loopback addresses."""
    return [str(FIRST + number) for number in range(count)]


def main(count: int, certificate: str | None) -> None:
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    listeners = _listen(count)
    print(next(iter(listeners.values())).getsockname()[1], flush=True)
    context = _context(certificate) if certificate else None
    poll, callers = select.epoll(), {}
    for descriptor in listeners:
        poll.register(descriptor, select.EPOLLIN)
    while True:
        for descriptor, _ in poll.poll():
            if listener := listeners.get(descriptor):
                caller = _welcome(listener, context)
                callers[caller.fileno()] = caller
                poll.register(caller.fileno(), select.EPOLLIN)
            elif not _answer(callers[descriptor]):
                poll.unregister(descriptor)
                callers.pop(descriptor).close()


def _listen(count: int) -> dict[int, socket.socket]:
    port, listeners = 0, {}
    for address in loopback(count):
        listener = socket.create_server((address, port), backlog=BACKLOG)
        listener.setblocking(False)
        port = listener.getsockname()[1]
        listeners[listener.fileno()] = listener
    return listeners


def _context(certificate: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context


def _welcome(listener: socket.socket, context: ssl.SSLContext | None) -> socket.socket:
    caller, _ = listener.accept()
    caller.setblocking(False)
    caller.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if context is None:
        return caller
    return context.wrap_socket(caller, server_side=True, do_handshake_on_connect=False)


def _answer(caller: socket.socket) -> bool:
    """Answer the requests that came; give False if the caller has hung up."""
    try:
        came = caller.recv(65_536)
        for _ in range(came.count(REQUEST)):
            caller.send(ANSWER)
    except ssl.SSLWantReadError:  # the handshake goes on
        return True
    except OSError:
        return False
    return bool(came)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1, sys.argv[2] if len(sys.argv) > 2 else None)
