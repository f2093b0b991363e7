"""The web process's port."""

import socket

from tools.local.errors import CannotStart


def free_port(port: int) -> int:
    """Give the port when it is free, or any free one for 0; raise `CannotStart` when it is taken."""
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", port))
            listener.listen(1)
        except OSError as error:
            raise CannotStart(
                f"Port {port} cannot be used ({error.strerror}). Stop the program that uses it, or choose "
                "another: make run PORT=8001"
            ) from error
        chosen: int = listener.getsockname()[1]
        return chosen
