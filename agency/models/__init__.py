"""Models of the tenant: agencies, their people, and what they own apart from their sub-accounts."""

from agency.models.activity import ActivityEntry
from agency.models.agencies import Agency, Member
from agency.models.branding.brands import Brand
from agency.models.branding.domains import Domain
from agency.models.branding.mail_settings import MailSettings
from agency.models.bulk import BulkOperation, BulkOperationItem
from agency.models.events import Event
from agency.models.exports import Export, ExportPart
from agency.models.hourly_counts import CounterState, HourlyCount
from agency.models.keys import AgencyKey
from agency.models.mail import Mail, PasswordResetRequest
from agency.models.notifications import (
    Notification,
    NotificationEvent,
    NotificationPreference,
    StateCheckPosition,
)
from agency.models.people.invitations import Invitation
from agency.models.people.sessions import UserSession
from agency.models.people.sign_up import PendingSignUp, SignUpSettings
from agency.models.people.two_factor import RecoveryCode, TwoFactor
from agency.models.people.users import User
from agency.models.plans import Addon, Plan
from agency.models.saved_views import SavedView
from agency.models.sent_forms import SentForm
from agency.models.switches import Switch

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
    "RecoveryCode",
    "SavedView",
    "SentForm",
    "SignUpSettings",
    "StateCheckPosition",
    "Switch",
    "TwoFactor",
    "User",
    "UserSession",
]
