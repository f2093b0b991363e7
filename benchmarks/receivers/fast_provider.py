"""A provider that is as cheap as Python allows: it answers every message with a new id at once.

`python -m benchmarks.receivers.fast_provider` prints its port at 127.0.0.1.
"""

import resource
import select
import socket

REQUEST = b"POST /"
BACKLOG = 1024
BODY = (
    b'{"messaging_product":"whatsapp","contacts":[{"input":"+4917000000001","wa_id":"4917000000001"}],'
    b'"messages":[{"id":"wamid.HBgNNDkxNzAwMDAwMDAwMRUCABEYEj%012d","message_status":"accepted"}]}'
)
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json; charset=UTF-8\r\nContent-Length: %d\r\n\r\n"
ANSWER = HEAD % len(BODY % 0) + BODY


def main() -> None:
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    listener = socket.create_server(("127.0.0.1", 0), backlog=BACKLOG)
    print(listener.getsockname()[1], flush=True)
    poll, callers, given = select.epoll(), dict[int, socket.socket](), 0
    poll.register(listener.fileno(), select.EPOLLIN)
    while True:
        for descriptor, _ in poll.poll():
            if descriptor == listener.fileno():
                caller, _ = listener.accept()
                caller.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                callers[caller.fileno()] = caller
                poll.register(caller.fileno(), select.EPOLLIN)
                continue
            messages = _messages(callers[descriptor])
            if messages is None:
                poll.unregister(descriptor)
                callers.pop(descriptor).close()
            for _ in range(messages or 0):
                given += 1
                callers[descriptor].send(ANSWER % given)


def _messages(caller: socket.socket) -> int | None:
    """Give the number of messages that came; None if the caller has hung up."""
    try:
        came = caller.recv(65_536)
    except OSError:
        return None
    return came.count(REQUEST) if came else None


if __name__ == "__main__":
    main()
