"""Errors whose messages say at the terminal why something did not start."""


class CannotStart(Exception):
    """The servers or the system do not start; the message says why and what to do."""


class AlreadyRunning(CannotStart):
    """Another process works on the same state folder."""


class ChildEnded(Exception):
    """One of the processes that belong together ended by itself."""
