"""All that the agency app registers: menu, first steps, activity labels, notifications, retention, metrics."""

from collections.abc import Iterable, Mapping
from datetime import date

from django.db.models import Exists, Q
from django.db.models.functions import Now
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from agency.admin.overview import SUPPORT_PANELS, SUPPORT_SEARCH_SOURCES, SUPPORT_START_PANELS
from agency.console.activity import ACTIVITY
from agency.models import (
    Agency,
    AgencyKey,
    BulkOperation,
    Domain,
    Export,
    Invitation,
    Mail,
    MailSettings,
    Member,
    Plan,
    User,
)
from agency.models.jobs import ACTIVE
from agency.notification_kinds import notification_kinds
from agency.pages.activity_labels import ACTIONS, DETAILS, SUBJECTS
from agency.pages.guides import GUIDES
from agency.pages.help import guides
from agency.pages.registry import (
    ActivityAction,
    ActivityTarget,
    Alert,
    AlertSource,
    Figure,
    FigureSource,
    FirstStep,
    LandingPage,
    Membership,
    MenuEntry,
    Section,
    StrOrPromise,
    activity_actions,
    activity_details,
    activity_targets,
    alert_sources,
    console_menu,
    figure_sources,
    first_steps,
    landing_pages,
)
from agency.pages.search import (
    ConsoleAction,
    SearchSource,
    console_actions,
    search_addons,
    search_members,
    search_plans,
    search_sources,
    support_panels,
    support_search_sources,
    support_start_panels,
)
from agency.services.activity import FIELDS as RECORDED_FIELDS
from agency.services.activity import RecordedAction, recorded_actions
from agency.services.exports import export_sources
from agency.services.invitations import TEAM, invitation_handlers
from agency.services.mail.content import (
    MailLink,
    confirmation_path,
    has_to_choose_a_password,
    known_address_path,
    mail_links,
)
from agency.services.mail.queue import is_mail_healthy, waiting_for_installation_server
from agency.services.mail.settings import mail_settings_of
from agency.services.mail.transport import FAILURES_BEFORE_REST
from agency.services.notifications import agency_kinds
from agency.services.notifications.agency_kinds import check_mail_servers, check_sub_account_limits
from agency.services.notifications.delivery import STAFF, digest_path, notification_path, recipient_sources
from agency.services.notifications.push_queue import SENT, due_pushes
from agency.services.notifications.pushing import TEST_SOURCE, push_sources
from agency.services.notifications.recording import StateCheck, state_checks
from agency.services.passwords import PASSWORD_RESETS, address_requests
from agency.services.retention import RULES
from config.formats import format_day
from config.health import Degradation, degradations
from config.metrics import METRICS, Gauge, capped_count, oldest_seconds
from config.request_bodies import MIB, BodyRule, body_rules
from config.retention import retention_rules

WAITING = Mail.objects.filter(sent_at=None, given_up_at=None)

JOBS = {"bulk": BulkOperation.objects.filter(state__in=ACTIVE), "export": Export.objects.filter(state__in=ACTIVE)}

MAIL_AND_JOB_METRICS = (
    Gauge(
        "jobs_active",
        "Bulk changes and exports that wait or run, counted up to 10,000.",
        read=lambda: {kind: capped_count(rows) for kind, rows in JOBS.items()},
        label="kind",
    ),
    Gauge(
        "jobs_oldest_seconds",
        "For how long the oldest bulk change or export that has not ended has been there.",
        read=lambda: {kind: oldest_seconds(rows, "created_at", order_by="id") for kind, rows in JOBS.items()},
        label="kind",
    ),
    Gauge(
        "mail_waiting",
        "E-mails to be sent, now or at their next attempt, counted up to 10,000.",
        read=lambda: capped_count(WAITING),
    ),
    Gauge(
        "mail_due_oldest_seconds",
        "For how long the longest due e-mail has waited for the worker, but for those that agencies' own servers take.",
        read=lambda: oldest_seconds(
            waiting_for_installation_server().filter(next_attempt_at__lte=Now()), "next_attempt_at"
        ),
    ),
    Gauge(
        "mail_retried",
        "E-mails that the installation's server did not take and that will be tried again, counted up to 10,000.",
        read=lambda: capped_count(WAITING.filter(attempts__gt=0, by_own_server=False)),
    ),
    Gauge(
        "mail_own_servers_resting",
        "Agencies' own mail servers that failed several times in a row; the installation's stands in for them.",
        read=lambda: capped_count(MailSettings.objects.filter(resting_until__gt=Now())),
    ),
)
PUSH_METRICS = (
    Gauge(
        "pushes_due_oldest_seconds",
        "For how long the longest due alert on a device has waited for the worker.",
        read=lambda: oldest_seconds(due_pushes(Now()), "due_at"),
    ),
    SENT,
)


degradations.add(Degradation("mail", is_mail_healthy))

body_rules.add(BodyRule("/console/", signed_in=True), BodyRule("/admin/", signed_in=True))
# A picture may have 1 MiB. The larger bound lets the page itself refuse larger pictures, such as those of cameras.
body_rules.add(
    *(
        BodyRule(f"/console/configuration/brand/{picture}", most_bytes=16 * MIB, signed_in=True)
        for picture in ("logo", "dark-logo", "favicon")
    )
)

METRICS.add(*MAIL_AND_JOB_METRICS, *PUSH_METRICS)
MENU = [
    MenuEntry(url_name="console:home", label=_("Home"), icon="home", section=Section.MAIN, order=10),
    MenuEntry(url_name="console:plans", label=_("Plans"), icon="plan", section=Section.CATALOGUE, order=10),
    MenuEntry(url_name="console:addons", label=_("Add-ons"), icon="addon", section=Section.CATALOGUE, order=20),
    MenuEntry(url_name="console:api-keys", label=_("API"), icon="key", section=Section.CONFIGURATION, order=10),
    MenuEntry(url_name="console:brand", label=_("Brand"), icon="brand", section=Section.CONFIGURATION, order=40),
    MenuEntry(url_name="console:domains", label=_("Domains"), icon="globe", section=Section.CONFIGURATION, order=50),
    MenuEntry(url_name="console:sign-up", label=_("Sign-up"), icon="person", section=Section.CONFIGURATION, order=50),
    MenuEntry(url_name="console:mail", label=_("E-mail"), icon="mail", section=Section.CONFIGURATION, order=60),
    MenuEntry(url_name="console:team", label=_("Team"), icon="team", section=Section.AGENCY, order=10),
    MenuEntry(url_name="console:activity", label=_("Activity"), icon="activity", section=Section.AGENCY, order=20),
    MenuEntry(
        url_name="console:bulk-operations", label=_("Bulk changes"), icon="checklist", section=Section.AGENCY, order=30
    ),
    MenuEntry(url_name="console:exports", label=_("Exports"), icon="download", section=Section.AGENCY, order=40),
]


def _has_plan(agency: Agency) -> Exists:
    return Exists(Plan.objects.filter(agency=agency))


def _has_key(agency: Agency) -> Exists:
    return Exists(AgencyKey.objects.filter(agency=agency))


def _has_domain(agency: Agency) -> Exists:
    return Exists(Domain.objects.of(agency).verified())


def _has_team(agency: Agency) -> Q:
    others = Exists(Member.objects.filter(agency=agency).order_by("id")[1:])
    return Q(others) | Q(Exists(Invitation.objects.filter(agency=agency, workspace_uuid=None)))


def _is_member(user: User, agency_id: int | None) -> bool:
    return Member.objects.of_person(user, agency_id).exists()


def _is_support(user: User, agency_id: int | None) -> bool:
    return user.is_staff and agency_id is None


def _memberships(user: User, agency_id: int | None) -> Iterable[Membership]:
    for member in Member.objects.of_person(user, agency_id).select_related("agency").order_by("agency__name_key", "id"):
        yield Membership(
            label=member.agency.name,
            note=member.get_role_display(),
            open_url=reverse("console:switch"),
            field="agency",
            value=str(member.agency.uuid),
            leave_url=reverse("account:leave-team", args=[member.pk]),
        )


STEPS = [
    FirstStep(
        title=_("Create a plan"),
        text=_("Limits for your customers, such as contacts, team members and channels."),
        url_name="console:plan-new",
        action=_("New plan"),
        is_done=_has_plan,
        order=10,
    ),
    FirstStep(
        title=_("Create an API key"),
        text=_("Lets your own systems create and manage sub-accounts."),
        url_name="console:api-key-new",
        action=_("New API key"),
        is_done=_has_key,
        order=30,
    ),
    FirstStep(
        title=_("Use your own domain"),
        text=_("Your customers sign in and connect their channels at an address of yours."),
        url_name="console:domains",
        action=_("Domains"),
        is_done=_has_domain,
        order=35,
    ),
    FirstStep(
        title=_("Invite your team"),
        text=_("As owners, admins or viewers."),
        url_name="console:team-invite",
        action=_("Invite"),
        is_done=_has_team,
        order=40,
        for_owners=True,
    ),
]


def figures(agency: Agency) -> Iterable[Figure]:
    plans = Plan.objects.filter(agency=agency, archived_at=None).count()
    keys = AgencyKey.objects.filter(agency=agency).live().count()
    yield Figure(label=_("Plans"), value=plans, url_name="console:plans")
    yield Figure(label=_("Live API keys"), value=keys, url_name="console:api-keys")


MOST_NAMED = 3


def _domain_concerns(agency: Agency) -> Iterable[Alert]:
    failing = Domain.objects.of(agency).filter(failing_since__isnull=False)
    for domain in failing.order_by("failing_since", "id")[:MOST_NAMED]:
        day = format_day(domain.served_until) if domain.served_until else ""
        text = _("The TXT record of %(host)s is gone. The domain works until %(day)s.")
        url = reverse("console:domain", args=[domain.uuid])
        yield Alert(text=text % {"host": domain.host, "day": day}, url=url, action=_("Domain"))


def concerns(agency: Agency) -> Iterable[Alert]:
    """Domains whose record is gone, open invitations, and the sub-account limit once nine tenths of it are used."""
    yield from _domain_concerns(agency)
    waiting = Invitation.objects.filter(agency=agency, status=Invitation.Status.OPEN, workspace_uuid=None)
    emails = list(waiting.order_by("id").values_list("email", flat=True)[: MOST_NAMED + 1])
    if emails:
        names = ", ".join(emails[:MOST_NAMED]) + (" …" if len(emails) > MOST_NAMED else "")
        text = _("Invitation pending: %(names)s") % {"names": names}
        yield Alert(text=text, url=reverse("console:team"), action=_("Team"))
    most = agency.max_sub_accounts
    if most is not None and agency.sub_account_count * 10 >= most * 9:
        used = {"number": f"{agency.sub_account_count:,}", "most": f"{most:,}"}
        text = _("%(number)s of %(most)s sub-accounts are used.") % used
        yield Alert(text=text, url=reverse("console:sub-accounts"), action=_("Sub-accounts"))


def mail_concerns(agency: Agency) -> Iterable[Alert]:
    """An agency's own mail server that fails, or that has not passed a test yet."""
    settings = mail_settings_of(agency)
    if settings.has_server and settings.failures >= FAILURES_BEFORE_REST:
        why = settings.get_failure_display()
        text: StrOrPromise = _("Your mail server is failing: %(reason)s We use our server instead.") % {"reason": why}
    elif settings.has_server and settings.verified_at is None:
        text = _("Your mail server is not used yet. It has to accept a test e-mail first.")
    else:
        return
    yield Alert(text=text, url=reverse("console:mail"), action=_("E-mail"))


def _domains_page(mail: Mail) -> str:
    return reverse("console:domain", args=[mail.context["domain"]])


def _served_until(mail: Mail) -> Mapping[str, object]:
    day = mail.context["day"]
    return {"day": format_day(date.fromisoformat(day))} if day else {}


address_requests.add(PASSWORD_RESETS)
invitation_handlers.add(TEAM)
notification_kinds.add(*agency_kinds.AGENCY_KINDS, *agency_kinds.EXPIRING_KEY_KINDS)
recipient_sources.add(STAFF)
push_sources.add(TEST_SOURCE)
state_checks.add(
    StateCheck("sub_account_limits", check_sub_account_limits),
    StateCheck("mail_servers", check_mail_servers),
    *agency_kinds.STATE_CHECKS,
)
mail_links.add(
    MailLink(Mail.Kind.SIGN_UP_CONFIRMATION, confirmation_path),
    MailLink(Mail.Kind.SIGN_UP_KNOWN_ADDRESS, known_address_path, sets_password=has_to_choose_a_password),
    MailLink(Mail.Kind.AGENCY_MESSAGE, lambda _mail: reverse("account:sign-in")),
    MailLink(Mail.Kind.DOMAIN_RECORD_MISSING, _domains_page, is_installations=True, make_context=_served_until),
    MailLink(Mail.Kind.NOTIFICATION, notification_path),
    MailLink(Mail.Kind.NOTIFICATION_DIGEST, digest_path),
)
landing_pages.add(
    LandingPage(name="console", url_name="console:home", order=10, is_open=_is_member, belongings=_memberships),
    LandingPage(name="admin", url_name="admin:index", order=20, is_open=_is_support),
)
console_menu.add(*MENU)
console_actions.add(
    ConsoleAction(url_name="console:plan-new", label=_("New plan"), order=20),
    ConsoleAction(url_name="console:addon-new", label=_("New add-on"), order=30),
    ConsoleAction(url_name="console:api-key-new", label=_("New API key"), order=50),
    ConsoleAction(url_name="console:team-invite", label=_("Invite to the team"), order=70),
    ConsoleAction(url_name="console:domain-new", label=_("Add domain"), order=80),
)
search_sources.add(
    SearchSource(name="plans", label=_("Plans"), order=40, find=search_plans),
    SearchSource(name="addons", label=_("Add-ons"), order=45, find=search_addons),
    SearchSource(name="members", label=_("Team"), order=60, find=search_members),
)
alert_sources.add(
    AlertSource(name="agency", order=30, concerns=concerns), AlertSource(name="mail", order=35, concerns=mail_concerns)
)
first_steps.add(*STEPS)
figure_sources.add(FigureSource(name="agency", order=20, figures=figures))
recorded_actions.add(*RecordedAction.from_fields(RECORDED_FIELDS))
activity_actions.add(*ActivityAction.from_labels(ACTIONS, SUBJECTS))
activity_details.add(*DETAILS)
retention_rules.add(*RULES)
activity_targets.add(ActivityTarget("plan", "console:plan"), ActivityTarget("addon", "console:addon"))
activity_targets.add(ActivityTarget("domain", "console:domain"), ActivityTarget("export", "console:export"))
activity_targets.add(ActivityTarget("bulk_operation", "console:bulk-operation"))
export_sources.add(ACTIVITY)
support_panels.add(*SUPPORT_PANELS)
support_search_sources.add(*SUPPORT_SEARCH_SOURCES)
support_start_panels.add(*SUPPORT_START_PANELS)
guides.add(*GUIDES)
