"""The tenant and what it owns before it has a single sub-account."""

from agency.models.activity import ActivityEntry
from agency.models.agencies import Agency, Member
from agency.models.brands import Brand
from agency.models.events import Event
from agency.models.invitations import Invitation
from agency.models.keys import AgencyKey
from agency.models.mail import Mail
from agency.models.plans import Addon, Plan
from agency.models.sent_forms import SentForm
from agency.models.switches import Switch
from agency.models.users import User

__all__ = [
    "ActivityEntry",
    "Addon",
    "Agency",
    "AgencyKey",
    "Brand",
    "Event",
    "Invitation",
    "Mail",
    "Member",
    "Plan",
    "SentForm",
    "Switch",
    "User",
]
