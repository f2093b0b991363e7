"""What a higher app says about channels: where people connect them themselves, and notes beside them in lists."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from agency.models import MailSettings
from config.hooks import Registry
from workspaces.subaccounts.models import Channel, Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectPage:
    """The page on which people connect channels of these platforms; with `?channel={uuid}` they reconnect one."""

    name: str
    url_name: str
    platforms: frozenset[str]
    is_open_to: Callable[[Workspace], bool]


connect_pages = Registry[ConnectPage](
    "pages on which customers connect channels",
    called="`connect_page_for` asks each whether it is open, for the dashboard's home page and its page of channels",
    transaction="none",
    failure="the page answers 500",
)


def connect_page_for(workspace: Workspace) -> ConnectPage | None:
    """Give the page on which people of the workspace may connect channels; None if the agency does it for them."""
    return next((page for page in connect_pages if page.is_open_to(workspace)), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelNote:
    """A sentence beside a channel's state. `is_bad` says that something is wrong."""

    text: str
    is_bad: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelNoteSource:
    """A higher app's notes about channels of a list, by primary key, with a bounded number of statements."""

    name: str
    notes: Callable[[Sequence[Channel]], Mapping[int, Sequence[ChannelNote]]]


channel_note_sources = Registry[ChannelNoteSource](
    "sources of notes about channels",
    called="`notes_of_channels` calls each once for the channels of a page",
    transaction="none",
    failure="the page answers 500",
)


def notes_of_channels(channels: Sequence[Channel]) -> Mapping[int, list[ChannelNote]]:
    """Give the notes about these channels, by primary key."""
    found: defaultdict[int, list[ChannelNote]] = defaultdict(list)
    for source in channel_note_sources if channels else ():
        for channel, notes in source.notes(channels).items():
            found[channel] += notes
    return found


def agency_email(workspace: Workspace) -> str:
    """Give the address at which the agency wants replies to its e-mails; "" if it has set none."""
    found = MailSettings.objects.filter(agency=workspace.agency_id).values_list("reply_to", flat=True).first()
    return found or ""
