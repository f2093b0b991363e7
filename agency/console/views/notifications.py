"""The notifications of the agency's staff."""

from typing import Any

from agency.console.views.base import ConsoleView, crumb
from agency.notification_kinds import EVERYBODY, NotificationKind
from agency.pages.notifications import (
    TITLE,
    NotificationListPage,
    NotificationSettingsPage,
    NotificationsReadPage,
)

LIST = "console:notifications"


class ConsoleNotificationPage(ConsoleView):
    """A page about a person's own notifications."""

    nav = LIST

    @property
    def notification_kinds(self) -> list[NotificationKind]:
        return self.area_notification_kinds

    @property
    def notification_role(self) -> str:
        return self.membership.member.role


class Notifications(ConsoleNotificationPage, NotificationListPage):
    """The list."""


class NotificationsRead(ConsoleNotificationPage, NotificationsReadPage):
    form_page = LIST
    writers = EVERYBODY


class NotificationSettings(ConsoleNotificationPage, NotificationSettingsPage):
    writers = EVERYBODY

    def context(self) -> dict[str, Any]:
        return {**super().context(), "crumbs": [crumb(TITLE, LIST)]}
