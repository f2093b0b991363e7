"""How much is unread, for open pages of the dashboard."""

from agency.pages.notifications import UnreadMessages, UnreadPage
from workspaces.conversations.services.threads import MOST_COUNTED, newest_unread, unread_conversations
from workspaces.subaccounts.dashboard.home import DashboardNotificationPage


class Unread(DashboardNotificationPage, UnreadPage):
    """The numbers of unread notifications and of open conversations with something unread."""

    def unread_messages(self) -> UnreadMessages:
        newest = newest_unread(self.workspace)
        number = unread_conversations(self.workspace).order_by()[:MOST_COUNTED].count()
        return UnreadMessages(number, newest.isoformat() if newest else "")
