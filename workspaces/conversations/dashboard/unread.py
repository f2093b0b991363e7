"""How much is unread, for open pages of the dashboard."""

from agency.pages.notifications import UnreadMessages, UnreadPage
from workspaces.conversations.services.threads import newest_unread, unread_count
from workspaces.subaccounts.dashboard.home import DashboardNotificationPage


class Unread(DashboardNotificationPage, UnreadPage):
    """The numbers of unread notifications and of open conversations with something unread."""

    def unread_messages(self) -> UnreadMessages:
        newest = newest_unread(self.workspace)
        return UnreadMessages(unread_count(self.workspace), newest.isoformat() if newest else "")
