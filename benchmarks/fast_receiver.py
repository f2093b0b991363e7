"""A receiver that costs as little as Python allows: answers 204 to every POST that arrives in one piece.

`python -m benchmarks.fast_receiver` prints its port.
"""

import select
import socket

ANSWER = b"HTTP/1.1 204 No Content\r\nServer: bench\r\n\r\n"


def main() -> None:
    listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
    listener.setblocking(False)
    print(listener.getsockname()[1], flush=True)
    poll, callers = select.epoll(), {}
    poll.register(listener.fileno(), select.EPOLLIN)
    while True:
        for descriptor, _ in poll.poll():
            if descriptor == listener.fileno():
                caller, _ = listener.accept()
                caller.setblocking(False)
                caller.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                callers[caller.fileno()] = caller
                poll.register(caller.fileno(), select.EPOLLIN)
            elif not _answer(callers[descriptor]):
                poll.unregister(descriptor)
                callers.pop(descriptor).close()


def _answer(caller: socket.socket) -> bool:
    """Answer what came; False where the caller has hung up."""
    try:
        came = caller.recv(65_536)
    except OSError:
        return False
    if came.startswith(b"POST"):
        caller.send(ANSWER)
    return bool(came)


if __name__ == "__main__":
    main()
