"""Where people of a workspace connect channels themselves: a higher app says whether and where they may."""

from collections.abc import Callable
from dataclasses import dataclass

from agency.models import MailSettings
from config.hooks import Registry
from workspaces.subaccounts.models import Workspace


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


def agency_email(workspace: Workspace) -> str:
    """Give the address at which the agency wants replies to its e-mails; "" if it has set none."""
    found = MailSettings.objects.filter(agency=workspace.agency_id).values_list("reply_to", flat=True).first()
    return found or ""
