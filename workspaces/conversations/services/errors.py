"""Errors of the services of conversations."""

from config.errors import Conflict, InvalidInput, NotFound


class ConversationNotFound(NotFound):
    message = "Conversation not found."


class ChannelNotActive(Conflict):
    message = "This channel is not connected."


class CannotSendHere(Conflict):
    message = "Messages cannot be sent on channels of this kind."


class NoAddress(Conflict):
    message = "This contact cannot be reached on this channel."


class ContactOptedOut(Conflict):
    message = "This contact has opted out."


class WindowClosed(Conflict):
    message = "The 24-hour window of this conversation is closed. Send a template."


class AssignedMeanwhile(Conflict):
    message = "This conversation has been assigned to somebody else meanwhile."


class CannotSendAgain(Conflict):
    message = "Only a message that has failed can be sent again."


class SentAgainAlready(Conflict):
    message = "This message has been sent again already."


class NotInTheTeam(InvalidInput):
    message = "The assigned to field must be the e-mail of a team member."
    field = "assigned_to"


class BegunAsSomethingElse(Conflict):
    message = "This was begun as something else, so nothing was done: look at where it stands now, and send it there."


class ContentRefused(InvalidInput):
    """The content does not fit the channel."""
