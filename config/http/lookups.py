"""Name look-ups by the operating system."""

import socket

from config.http.hosts import is_internal_name


class LookupFailed(Exception):
    """A name could not be looked up now: no answer came in time, or the name server failed."""


def system_lookup(host: str) -> tuple[str, ...]:
    """Return all addresses of a name; none if there is no such name. Raises LookupFailed.

    The name is looked up as absolute, so that no search domain completes it. Internal names are looked up as they are,
    because the hosts file does not know the absolute spelling.
    """
    name = host if is_internal_name(host) else f"{host}."
    try:
        answers = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    except socket.gaierror as error:
        if error.errno in (socket.EAI_NONAME, socket.EAI_NODATA):
            return ()
        raise LookupFailed from error
    except (OSError, UnicodeError) as error:
        raise LookupFailed from error
    return tuple(dict.fromkeys(str(answer[4][0]) for answer in answers))
