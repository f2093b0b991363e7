"""The codes that runs, their steps and facts keep, in words for people. The API gives the codes."""

import re
from collections.abc import Mapping
from typing import Final

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from workspaces.automations.engine.progress import SENTENCES
from workspaces.automations.execution.decisions import REASONS
from workspaces.automations.execution.running import ERRORS, WAITING
from workspaces.automations.models import AutomationRun, TriggerEvent
from workspaces.automations.services.run_control import StopReason
from workspaces.contacts.services.tasks import LIMIT_REACHED, NO_SUCH_ASSIGNEE, AssigneeNotInTheTeam, TaskLimitReached

OUR_FAULT: Final = gettext_noop("Something went wrong on our side. Support staff can see it.")
RESTORED: Final = gettext_noop("It was stopped because the database was restored from a backup.")
STOPS: Final[Mapping[str, str]] = {
    StopReason.BY_PERSON: gettext_noop("A person stopped it."),
    StopReason.OPTED_OUT: gettext_noop("The contact opted out of messages."),
    StopReason.REPLIED: gettext_noop("The contact wrote."),
    StopReason.SWITCHED_OFF: gettext_noop("The automation was switched off."),
    StopReason.CONTACT_MERGED: gettext_noop("The contact was merged with another one that had a run of its own."),
    StopReason.REMOVED: gettext_noop("The automation was removed."),
    "conversation_gone": gettext_noop("The conversation was removed."),
    "database_restored": RESTORED,
}
EVENTS: Final[Mapping[str, str]] = {**REASONS, "internal_error": OUR_FAULT, "database_restored": RESTORED}
FAILURES: Final[Mapping[str, str]] = {**ERRORS, **SENTENCES, "internal_error": OUR_FAULT}
DETAILS: Final[Mapping[str, str]] = {
    **ERRORS,
    "waiting_for_turn": gettext_noop("Another automation is waiting for the contact's answer first."),
    "expired": gettext_noop("The time for it was over."),
    "not_understood": gettext_noop("The answer was not understood."),
    "no_change": gettext_noop("Unchanged."),
    "no_value": gettext_noop("There was no value for it."),
    "empty_text": gettext_noop("There was no text to send."),
    "open_now": gettext_noop("The business was open already."),
    "moment_has_passed": gettext_noop("The moment had passed already."),
    # Messages that were skipped
    "channel_not_active": gettext_noop("Not sent: the channel is not connected."),
    "paused": gettext_noop("Not sent: a person has taken over the conversation."),
    "window_closed": gettext_noop("Not sent: the contact has not written in the last 24 hours."),
    # Tasks
    LIMIT_REACHED: TaskLimitReached.message,
    NO_SUCH_ASSIGNEE: AssigneeNotInTheTeam.message,
    # Appointments and payments
    "no_free_times": gettext_noop("No time was free."),
    "no_service": gettext_noop("There is no service that can be booked."),
    "no_staff": gettext_noop("The person of this step no longer exists."),
    "no_appointment": gettext_noop("The contact has no such appointment."),
    "time_taken": gettext_noop("The time was not free any more."),
    "too_many_rounds": gettext_noop("Times were offered too often."),
    "appointment_cancelled": gettext_noop("The appointment was cancelled."),
    "nothing_due": gettext_noop("There was nothing to pay."),
    "no_price": gettext_noop("There is no price for it."),
    "no_product": gettext_noop("The product of this step no longer exists."),
    "not_invoiced": gettext_noop("No invoice could be issued."),
    "not_possible": gettext_noop("It was not possible any more."),
    "internal_error": OUR_FAULT,
    # Calls of web addresses and of A.I. providers
    "unsure": gettext_noop("The A.I. was not sure."),
    "answer_refused": gettext_noop("The answer of the A.I. was not used: it has parts that are not in its facts."),
    "unfounded": gettext_noop("The answer of the A.I. is not supported by its facts."),
    "no_account": gettext_noop("There is no A.I. account for this step."),
    "key_refused": gettext_noop("The A.I. provider refused the agency's key."),
    "budget": gettext_noop("The A.I. budget of this month is used up."),
    "unavailable": gettext_noop("The A.I. provider has a disruption."),
    "throttled": gettext_noop("The A.I. provider gets too many calls."),
    "provider_error": gettext_noop("The A.I. provider reported a fault of its own."),
    "request_refused": gettext_noop("The A.I. provider refused the call."),
    "bad_header": gettext_noop("A header of the call is not valid."),
    "bad_request": gettext_noop("The call could not be made from the values of this run."),
    "unreadable": gettext_noop("The call could not be read any more."),
    "too_late": gettext_noop("The call was not begun in time."),
    "no_answer": gettext_noop("It is not known whether the other system got the call."),
    "unreachable": gettext_noop("The other system could not be reached."),
    "refused": gettext_noop("The other system refused the connection."),
    "connect_timeout": gettext_noop("The other system did not accept the connection in time."),
    "tls": gettext_noop("The connection to the other system could not be secured."),
    "timeout": gettext_noop("The other system did not answer in time."),
    "closed": gettext_noop("The other system broke off its answer."),
    "invalid_answer": gettext_noop("The answer of the other system could not be read."),
    "not_text": gettext_noop("The answer of the other system is not a text."),
    "too_large": gettext_noop("The call or its answer was too large."),
    "failed": gettext_noop("The call could not be made."),
    "withheld": gettext_noop("The call was not made."),
}
STATUS: Final = re.compile(r"(?:http|status)_([0-9x]{3})")


def run_reason(run: AutomationRun) -> str:
    """Say in words why a run failed, was stopped, or what it waits for. Empty for other runs."""
    if run.status == AutomationRun.Status.FAILED:
        return _(FAILURES.get(run.error_code) or run.error_message or OUR_FAULT)
    if run.status == AutomationRun.Status.STOPPED:
        # A message may also stop a run. Then the run keeps what the message did, a key of `REASONS`.
        code = StopReason.REPLIED if run.error_message in REASONS.keys() - STOPS.keys() else run.error_message
        return _(STOPS[code]) if code in STOPS else ""
    if run.status == AutomationRun.Status.WAITING:
        return run.get_wait_kind_display()
    return ""


def step_detail(code: str) -> str:
    """Say in words why a step took its port. Empty where the port says it, and for a code from another version."""
    if code in ("", WAITING):
        return ""
    if status := STATUS.fullmatch(code):
        return _("The other system answered with the status %(status)s.") % {"status": status[1]}
    return _(DETAILS[code]) if code in DETAILS else ""


def event_reason(event: TriggerEvent) -> str:
    """Say in words what decided about a fact."""
    return _(EVENTS[event.reason]) if event.reason in EVENTS else ""
