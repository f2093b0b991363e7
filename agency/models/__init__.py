"""Models of the tenant: agencies, their people, and what they own apart from their sub-accounts."""

from agency.models.agencies import Addon, Agency, AgencyKey, Member, Plan, Switch
from agency.models.branding import Brand, Domain, MailSettings
from agency.models.jobs import BulkOperation, BulkOperationItem, Export, ExportPart
from agency.models.mail import Mail, PasswordResetRequest
from agency.models.notifications import Notification, NotificationEvent, NotificationPreference, StateCheckPosition
from agency.models.people import Invitation, PendingSignUp, RecoveryCode, SignUpSettings, TwoFactor, UserSession
from agency.models.push import PushSubscription, QueuedPush, VapidKey
from agency.models.records import ActivityEntry, CounterState, Event, HourlyCount, SavedView, SentForm
from agency.models.users import User

__all__ = [
    "ActivityEntry",
    "Addon",
    "Agency",
    "AgencyKey",
    "Brand",
    "BulkOperation",
    "BulkOperationItem",
    "CounterState",
    "Domain",
    "Event",
    "Export",
    "ExportPart",
    "HourlyCount",
    "Invitation",
    "Mail",
    "MailSettings",
    "Member",
    "Notification",
    "NotificationEvent",
    "NotificationPreference",
    "PasswordResetRequest",
    "PendingSignUp",
    "Plan",
    "PushSubscription",
    "QueuedPush",
    "RecoveryCode",
    "SavedView",
    "SentForm",
    "SignUpSettings",
    "StateCheckPosition",
    "Switch",
    "TwoFactor",
    "User",
    "UserSession",
    "VapidKey",
]
