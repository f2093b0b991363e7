"""Every change of an agency: one verb, one function, one transaction."""

from agency.services.activity import record_activity
from agency.services.agencies import change_agency, create_agency, restore_agency, suspend_agency
from agency.services.brands import brand_of, logo_named, remove_logo, set_accent, set_logo
from agency.services.catalogue import (
    AddonLimitReached,
    AddonNotFound,
    PlanIsDefault,
    PlanLimitReached,
    PlanNotFound,
    archive_item,
    choose_default_plan,
    create_addon,
    create_plan,
    default_plan_of,
    update_item,
)
from agency.services.events import (
    NewEvent,
    envelope,
    record_event,
    record_events,
    subscribed_events,
    write_event,
)
from agency.services.keys import KeyNotFound, issue_agency_key, revoke_agency_key
from agency.services.mail.queue import due_mail, queue_mail, send_due_mail, send_next_mail
from agency.services.people.invitations import (
    InvitationEnded,
    InvitationNotFound,
    accept_invitation,
    accept_with_password,
    decline_invitation,
    invite_member,
    send_invitation_again,
    withdraw_invitation,
)
from agency.services.people.members import MemberNotFound, add_member, change_role, remove_member
from agency.services.switches import set_switch

__all__ = [
    "AddonLimitReached",
    "AddonNotFound",
    "InvitationEnded",
    "InvitationNotFound",
    "KeyNotFound",
    "MemberNotFound",
    "NewEvent",
    "PlanIsDefault",
    "PlanLimitReached",
    "PlanNotFound",
    "accept_invitation",
    "accept_with_password",
    "add_member",
    "archive_item",
    "brand_of",
    "change_agency",
    "change_role",
    "choose_default_plan",
    "create_addon",
    "create_agency",
    "create_plan",
    "decline_invitation",
    "default_plan_of",
    "due_mail",
    "envelope",
    "invite_member",
    "issue_agency_key",
    "logo_named",
    "queue_mail",
    "record_activity",
    "record_event",
    "record_events",
    "remove_logo",
    "remove_member",
    "restore_agency",
    "revoke_agency_key",
    "send_due_mail",
    "send_invitation_again",
    "send_next_mail",
    "set_accent",
    "set_logo",
    "set_switch",
    "subscribed_events",
    "suspend_agency",
    "update_item",
    "withdraw_invitation",
    "write_event",
]
