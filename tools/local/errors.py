"""Errors whose messages tell the person at the terminal why something does not run."""


class CannotStart(Exception):
    """The servers or the system do not start; the message says why and what to do."""


class AlreadyRunning(CannotStart):
    """Another process holds the same state folder."""


class ChildEnded(Exception):
    """A process of the system ended by itself."""
