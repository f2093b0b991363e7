"""Errors with which services of broadcasts refuse a change."""

from config.errors import Conflict, InvalidInput, NotFound


class BroadcastNotFound(NotFound):
    message = "Broadcast not found."


class BroadcastRefused(InvalidInput):
    """A field of a broadcast breaks a rule; the message says which."""


class MoveNotAllowed(Conflict):
    """The broadcast's status does not allow this; the message says what does."""


class BroadcastChanged(Conflict):
    message = "This broadcast was changed meanwhile. Look through it again."
