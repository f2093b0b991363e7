"""The notifications of a workspace's users."""

from typing import Any

from django.urls import reverse

from agency.notification_kinds import NotificationKind
from agency.pages.notifications import (
    TITLE,
    NotificationListPage,
    NotificationSettingsPage,
    NotificationsReadPage,
)
from workspaces.subaccounts.dashboard.surface import DashboardView

LIST = "app:notifications"


class DashboardNotificationPage(DashboardView):
    """Every user has their own notifications. Agency staff who opened the dashboard get none here."""

    nav = LIST

    @property
    def notification_kinds(self) -> list[NotificationKind]:
        return self.area_notification_kinds

    @property
    def notification_role(self) -> str:
        return self.current.role


class Notifications(DashboardNotificationPage, NotificationListPage):
    """The list of the user's notifications."""


class NotificationsRead(DashboardNotificationPage, NotificationsReadPage):
    form_page = LIST


class NotificationSettings(DashboardNotificationPage, NotificationSettingsPage):
    def context(self) -> dict[str, Any]:
        return {**super().context(), "crumbs": [(TITLE, reverse(LIST))]}
