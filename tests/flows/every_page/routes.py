"""Every page by its name, and how to get there. A route that stands nowhere here fails the tests."""

import re
from collections.abc import Callable
from typing import Any

from django.urls import NoReverseMatch, get_resolver, reverse
from django.utils.timezone import now

from agency.tenants import Tenant as TenantOf
from tests.flows.every_page.extremes import ENDLESS, ExtremeTenant
from webhooks.pages.deliveries import sign_redelivery
from webhooks.services.deliveries import ReplayResult

Arguments = Callable[[ExtremeTenant], list[Any]]
Address = Callable[[ExtremeTenant], str]

# What a page is about, by the longest beginning of its name; pages about nothing in particular need no entry.
ARGUMENTS: dict[str, Arguments] = {
    "console:plan": lambda a: [a.endless_plan.uuid],
    "console:addon": lambda a: [a.endless_addon.uuid],
    "console:api-key": lambda a: [a.named_key.uuid],
    "console:member": lambda a: [a.member.pk],
    "console:sub-account": lambda a: [a.customer.uuid],
    "console:sub-account-channel-disconnect": lambda a: [a.customer.uuid, a.customer.channels.get().uuid],
    "console:sub-account-addon-revoke": lambda a: [a.customer.uuid, a.endless_addon.uuid],
    "console:webhook": lambda a: [a.long_endpoint.uuid],
    "console:webhook-delivery": lambda a: [a.failed.uuid],
    "console:webhook-redelivery": lambda a: [
        sign_redelivery(TenantOf(a.agency.pk), ReplayResult(1, a.failed.pk, a.failed.pk), a.failed.created_at)
    ],
    "console:pack": lambda a: [a.draft.uuid],
    "console:pack-draft": lambda a: [a.published.uuid],
    "console:pack-copy-from": lambda a: [a.draft.uuid, a.customer.uuid],
    "console:pack-copy-preview": lambda a: [a.draft.uuid, a.customer.uuid, a.own.uuid],
    "console:pack-install-for": lambda a: [a.customer.uuid],
    "console:pack-entry": lambda a: [a.draft.uuid, a.first_entry.uuid],
    "console:channel-connect": lambda a: [a.customer.uuid],
    "console:bulk-operation": lambda a: [a.bulk_operation.uuid],
    "console:export": lambda a: [a.export.uuid],
    "console:help-guide": lambda _: ["plans"],
    "app:help-guide": lambda _: ["contacts"],
    "console:domain": lambda a: [a.domain.uuid],
    "console:ai-account": lambda a: [a.ai_account.uuid],
    "account:leave-team": lambda a: [a.membership.pk],
    "app:automation": lambda a: [a.installed.uuid],
    "app:automation-runs": lambda a: [a.own.uuid],
    "app:automation-run": lambda a: [a.own.uuid, a.failed_run.uuid],
    "app:automation-step": lambda a: [a.own.uuid, a.own.draft["entry"]],
    "app:automation-step-add": lambda a: [a.own.uuid, a.own.draft["entry"], "next"],
    "app:automation-connect": lambda a: [a.own.uuid, a.own.draft["entry"], "next"],
    "app:api-key": lambda a: [a.own_key.uuid],
    "app:webhook": lambda a: [a.own_endpoint.uuid],
    "app:webhook-delivery": lambda a: [a.own_delivery.uuid],
    "app:webhook-redelivery": lambda a: [
        sign_redelivery(a.own_endpoint.tenant, ReplayResult(1, a.own_delivery.pk, a.own_delivery.pk), now())
    ],
    "app:conversation": lambda a: [a.conversation.uuid],
    "app:broadcast": lambda a: [a.broadcast.uuid],
    "app:broadcast-edit": lambda a: [a.draft_broadcast.uuid],
    "app:broadcast-preview": lambda a: [a.draft_broadcast.uuid],
    "app:broadcast-schedule": lambda a: [a.draft_broadcast.uuid],
    "app:broadcast-test": lambda a: [a.draft_broadcast.uuid],
    "app:broadcast-delete": lambda a: [a.draft_broadcast.uuid],
    "console:broadcast": lambda a: [a.broadcast.uuid],
    "app:saved-reply": lambda a: [a.saved_reply.uuid],
    "app:contact": lambda a: [a.endless_contact.uuid],
    "app:contact-import": lambda a: [a.endless_import.uuid],
    "app:task": lambda a: [a.endless_task.uuid],
    "app:segment": lambda a: [a.endless_segment.uuid],
    "app:class": lambda a: [a.offered["session"]],
    "app:class-series": lambda a: [a.offered["series"]],
    "app:appointment": lambda a: [a.offered["appointment"]],
    "app:invoice": lambda a: [a.issued_invoice.uuid],
    "app:invoice-edit": lambda a: [a.draft_invoice.uuid],
    "app:invoice-delete": lambda a: [a.draft_invoice.uuid],
    "app:invoice-issue": lambda a: [a.draft_invoice.uuid],
    "app:payment-new": lambda a: [a.issued_invoice.uuid],
    "app:payment-refund": lambda a: [a.payment.uuid],
    "app:payout": lambda a: [a.payout.uuid],
    "app:tax-rate": lambda a: [a.tax_rate.uuid],
    "app:product": lambda a: [a.offered["product"]],
    "app:service": lambda a: [a.offered["service"]],
    "app:service-category": lambda a: [a.offered["category"]],
    "app:staff": lambda a: [a.offered["staff"]],
    "app:channel-disconnect": lambda a: [a.customer.channels.get().uuid],
    "app:leave": lambda a: [a.customer.uuid],
    "app:person-remove": lambda a: [a.customer.members.get().uuid],
    "app:person-make-owner": lambda a: [a.customer.members.get().uuid],
    "app:pack": lambda a: [a.published.uuid],
}
# Targets of forms, and what only leads elsewhere.
NOT_LOOKED_AT = {
    "account:invitation-accept",
    "account:invitation-decline",
    "account:invitation-link",
    "account:code",  # for whoever has shown a password
    "account:recovery-code",
    "account:recovery-codes",  # for whoever uses two-factor
    "account:two-factor-off",
    "account:alerts-add",
    "account:alerts-remove",
    "account:alerts-renew",  # for the service worker
    "account:alerts-test",
    "account:session-end",
    "account:sessions-end",
    "account:two-factor-set-up",  # for whoever has begun it
    "account:set-password",  # its link is made where it is looked at
    "account:sign-out",
    "app:appointment-complete",
    "app:appointment-confirm",
    "app:appointment-miss",
    "app:automation-off",
    "app:automation-on",
    "app:automation-run-retry",
    "app:automation-run-stop",
    "app:automation-redo",
    "app:automation-undo",
    "app:booking-page-code",  # a picture
    "app:broadcast-approve",  # asks as scheduling does
    "app:broadcast-duplicate",
    "app:broadcast-export",
    "app:broadcast-pause",
    "app:broadcast-resume",
    "app:contact-import-cancel",
    "app:contact-import-refused",  # files
    "app:contact-import-sample",
    "app:contact-opt-in",
    "app:contact-opt-out",
    "app:contacts-export",
    "app:class-participant-add",
    "app:class-participant-remove",
    "app:class-waiting-add",
    "app:class-waiting-remove",
    "app:conversation-again",
    "app:conversation-assign",
    "app:conversation-enter-key",
    "app:conversation-insert",
    "app:conversation-note",
    "app:conversation-opt-out",
    "app:conversation-read",
    "app:conversation-reply",
    "app:conversation-resume-automations",
    "app:conversation-send",
    "app:conversation-snooze",
    "app:conversation-status",
    "app:conversation-unread",
    "app:conversations-change",
    "app:channel-request",
    "app:first-steps",
    "app:inbox-stream",
    "app:invoice-pdf",  # a file
    "app:agency-access-end",
    "app:pack-install",
    "app:notifications-read",
    "app:payout-export",
    "app:person-invite-again",
    "app:person-invite-withdraw",
    "app:saved-view-save",
    "app:saved-view-remove",
    "app:staff-calendar-read",
    "app:staff-calendar-remove",
    "app:staff-feed-create",
    "app:staff-feed-remove",
    "app:staff-feed-renew",
    "app:staff-time-off-remove",
    "app:switch",
    "app:task-complete",
    "app:task-reopen",
    "app:unread",  # numbers for unread.js
    "app:webhook-redeliver",
    "app:webhook-test",
    "app:find-suggestions",  # a part of the palette: test_finding_browser.py
    "console:ai-account-test",
    "console:bulk-operation-cancel",
    "console:channel-connect-cancel",
    "console:domain-check",
    "console:export-cancel",
    "console:export-file",
    "console:domain-primary",
    "console:find-suggestions",  # a part of the palette: test_finding_browser.py
    "console:invitation-again",
    "console:mail-again",
    "console:mail-test",
    "console:invitation-withdraw",
    "console:notifications-read",
    "console:pack-add",
    "console:pack-order",
    "console:packs-order",
    "console:packs-visibility",
    "console:plan-default",
    "console:unread",
    "console:saved-view-save",
    "console:saved-view-remove",
    "console:sub-account-addons",
    "console:sub-account-open",
    "console:sub-account-owner-invite",
    "console:sub-account-restore",
    "console:switch",
    "console:webhook-redeliver",
    "console:webhook-test",
}
# A customer's way through a connection is walked in `test_connect_browser`.
CONNECT = {
    "connect:callback",
    "connect:cancel",
    "connect:continue",
    "connect:landing",
    "connect:provider-events",
    "connect:select-account",
    "connect:session",
    "connect:session-cancel",
    "connect:session-continue",
}
# A payer's way is walked in tests/flows/test_paying_browser.py.
PAY = {"pay:document", "pay:done", "pay:page", "pay:start", "pay:stripe"}
# A new customer's way, on an agency's own host.
SIGN_UP = {"sign-up:confirm", "sign-up:confirm-link", "sign-up:form", "sign-up:sent"}
# A visitor's way through a booking.
BOOKING = {
    "book:calendar-file",
    "book:cancel",
    "book:class",
    "book:classes",
    "book:code",
    "book:deposit",
    "book:details",
    "book:give-back",
    "book:manage",
    "book:move",
    "book:move-times",
    "book:seat",
    "book:seat-file",
    "book:services",
    "book:times",
}
# Pages for whoever has not signed in.
ANONYMOUS = ("account:sign-in", "account:password-reset", "account:password-reset-sent")
# The same pages in other states, each by a name that stays the same.
STATES: dict[str, Address] = {
    "console:sub-account (suspended)": lambda a: reverse("console:sub-account", args=[a.suspended.uuid]),
    "console:pack (published)": lambda a: reverse("console:pack", args=[a.published.uuid]),
    "console:sub-accounts (nothing found)": lambda a: f"{reverse('console:sub-accounts')}?search={'x' * 120}",
    "console:bulk-operation-new (plan for all)": lambda a: (
        f"{reverse('console:bulk-operation-new')}?action=sub_accounts.assign_plan&all=1"
    ),
    "console:find (something found)": lambda a: f"{reverse('console:find')}?q={a.suspended.name[:4]}",
    "console:find (nothing found)": lambda a: f"{reverse('console:find')}?q={'x' * 120}",
    "app:find (something found)": lambda a: f"{reverse('app:find')}?q={ENDLESS[:9]}",
    "app:find (nothing found)": lambda a: f"{reverse('app:find')}?q={'x' * 120}",
    "console (unknown address)": lambda a: "/console/nothing-here",
    "app:broadcast (draft)": lambda a: reverse("app:broadcast", args=[a.draft_broadcast.uuid]),
    "app:automation-edit (own)": lambda a: reverse("app:automation-edit", args=[a.own.uuid]),
    "app:automation-step-add (a list)": lambda a: (
        f"{reverse('app:automation-step-add', args=[a.own.uuid, 'trigger', 'next'])}?type=send_list"
    ),
    "app:automation (own)": lambda a: reverse("app:automation", args=[a.own.uuid]),
    "app:conversation (note)": lambda a: f"{reverse('app:conversation', args=[a.conversation.uuid])}?mode=note",
    "app:conversation (template)": lambda a: f"{reverse('app:conversation', args=[a.conversation.uuid])}?mode=template",
    "app:contact-merge (with another)": lambda a: (
        f"{reverse('app:contact-merge', args=[a.endless_contact.uuid])}?other={a.conversation.contact.uuid}"
    ),
    "app:conversation-new (to a contact)": lambda a: (
        f"{reverse('app:conversation-new')}?contact={a.endless_contact.uuid}"
    ),
    "app:conversation-new (nothing found)": lambda a: f"{reverse('app:conversation-new')}?search={'x' * 100}",
    "app:calendar (day)": lambda a: f"{reverse('app:calendar')}?view=day&day={a.planned:%Y-%m-%d}",
    "app:calendar (week)": lambda a: f"{reverse('app:calendar')}?day={a.planned:%Y-%m-%d}",
    "app:appointments (of a contact)": lambda a: f"{reverse('app:appointments')}?contact={a.offered['contact']}",
    "app:appointment-new (search)": lambda a: f"{reverse('app:appointment-new')}?search={ENDLESS[:10]}",
    "app:appointment-new (times)": lambda a: (
        f"{reverse('app:appointment-new')}?contact={a.offered['contact']}&service={a.offered['bookable']}"
    ),
    "app:class (search)": lambda a: f"{reverse('app:class', args=[a.offered['session']])}?search={ENDLESS[:10]}",
    "app:invoice (draft)": lambda a: reverse("app:invoice", args=[a.draft_invoice.uuid]),
    "app:invoices (nothing found)": lambda a: f"{reverse('app:invoices')}?search={'x' * 100}",
    "app:products (nothing found)": lambda a: f"{reverse('app:products')}?search={'x' * 120}",
}


def names_in(namespace: str) -> set[str]:
    """Every route of a namespace by its name."""
    _, resolver = get_resolver().namespace_dict[namespace]
    return {f"{namespace}:{name}" for name in resolver.reverse_dict if isinstance(name, str)}


def address_of(name: str, tenant: ExtremeTenant) -> str:
    """Give a page's address; a page about something needs an entry above."""
    if name in STATES:
        return STATES[name](tenant)
    try:
        return reverse(name)
    except NoReverseMatch:
        known = [beginning for beginning in ARGUMENTS if name.startswith(beginning)]
        assert known, f"{name} is about something, and ARGUMENTS does not say of what"
        return reverse(name, args=ARGUMENTS[max(known, key=len)](tenant))


def pages_in(namespace: str) -> list[str]:
    """Name every page of a namespace that is for whoever has signed in."""
    names = sorted(names_in(namespace) - NOT_LOOKED_AT - {*ANONYMOUS})
    return [*names, *(state for state in STATES if area_of(state) == namespace)]


def area_of(name: str) -> str:
    """Give the area of the product to which a page belongs: the first word of its name."""
    return re.split(r"[: ]", name, maxsplit=1)[0]


def pages_of(namespace: str, tenant: ExtremeTenant) -> list[str]:
    """Give the address of every page of a namespace that is for whoever has signed in."""
    return [address_of(name, tenant) for name in pages_in(namespace)]
