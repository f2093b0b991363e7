"""What the agency app adds to the console: menu, figures, first steps and labels of the activity log."""

from collections.abc import Iterable

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from agency import metrics
from agency.models import Agency, AgencyKey, Invitation, Member, Plan, User
from agency.pages.registry import (
    ActivityTarget,
    Belonging,
    Concern,
    ConcernSource,
    Figure,
    FigureSource,
    FirstStep,
    LandingPlace,
    MenuEntry,
    Section,
    activity_targets,
    concern_sources,
    console_menu,
    figure_sources,
    first_steps,
    label_actions,
    landing_places,
)
from agency.services.mail.queue import mail_keeps_up
from agency.services.people.invitations import TEAM, invitation_handlers
from agency.services.retention import RULES
from config.health import Degradation, parts
from config.metrics import METRICS
from config.request_bodies import MIB, BodyRule, body_rules
from config.retention.rules import retention_rules

parts.add(Degradation("mail", mail_keeps_up))

# A logo may have 1 MiB; the page says so itself of a picture as cameras make them.
body_rules.add(BodyRule("/console/configuration/brand/logo", most_bytes=16 * MIB))

METRICS.add(*metrics.METRICS)
MENU = [
    MenuEntry(url_name="console:home", label=_("Home"), icon="home", section=Section.MAIN, order=10),
    MenuEntry(url_name="console:plans", label=_("Plans"), icon="plan", section=Section.CATALOGUE, order=10),
    MenuEntry(url_name="console:addons", label=_("Add-ons"), icon="addon", section=Section.CATALOGUE, order=20),
    MenuEntry(url_name="console:api-keys", label=_("API"), icon="key", section=Section.CONFIGURATION, order=10),
    MenuEntry(url_name="console:brand", label=_("Brand"), icon="brand", section=Section.CONFIGURATION, order=40),
    MenuEntry(url_name="console:team", label=_("Team"), icon="team", section=Section.AGENCY, order=10),
    MenuEntry(url_name="console:activity", label=_("Activity"), icon="activity", section=Section.AGENCY, order=20),
]
ACTIONS = {
    "agency.created": _("Agency created"),
    "agency.changed": _("Agency changed"),
    "agency.suspended": _("Agency suspended"),
    "agency.restored": _("Agency restored"),
    "brand.colour_changed": _("Colour changed"),
    "brand.logo_changed": _("Logo changed"),
    "brand.logo_removed": _("Logo removed"),
    "plan.created": _("Plan created"),
    "plan.changed": _("Plan edited"),
    "plan.archived": _("Plan archived"),
    "plan.default_chosen": _("Default plan chosen"),
    "addon.created": _("Add-on created"),
    "addon.changed": _("Add-on edited"),
    "addon.archived": _("Add-on archived"),
    "agency_key.created": _("API key created"),
    "agency_key.revoked": _("API key revoked"),
    "member.invited": _("Member invited"),
    "invitation.sent_again": _("Invitation sent again"),
    "invitation.withdrawn": _("Invitation withdrawn"),
    "invitation.declined": _("Invitation declined"),
    "member.added": _("Member joined"),
    "member.role_changed": _("Role changed"),
    "member.removed": _("Member removed"),
    "member.left": _("Member left"),
    "user.erased": _("Person erased"),
}


def _has_plan(agency: Agency) -> bool:
    return Plan.objects.filter(agency=agency).exists()


def _has_key(agency: Agency) -> bool:
    return AgencyKey.objects.filter(agency=agency).exists()


def _has_team(agency: Agency) -> bool:
    others = Member.objects.filter(agency=agency).count() > 1
    return others or Invitation.objects.filter(agency=agency, workspace_uuid=None).exists()


def _is_member(user: User) -> bool:
    return Member.objects.filter(user=user).exists()


def _memberships(user: User) -> Iterable[Belonging]:
    for member in Member.objects.filter(user=user).select_related("agency").order_by("agency__name_key", "id"):
        yield Belonging(
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
        text=_("What your customers may use: contacts, team members, channels."),
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
        title=_("Invite your team"),
        text=_("As owner, admin or viewer."),
        url_name="console:team-invite",
        action=_("Invite"),
        is_done=_has_team,
        order=40,
        for_owners=True,
    ),
]


def figures(agency: Agency) -> Iterable[Figure]:
    plans = Plan.objects.filter(agency=agency, archived_at=None).count()
    keys = AgencyKey.objects.filter(agency=agency, revoked_at=None).count()
    yield Figure(label=_("Plans"), value=plans, url_name="console:plans")
    yield Figure(label=_("Live API keys"), value=keys, url_name="console:api-keys")


MOST_NAMED = 3


def concerns(agency: Agency) -> Iterable[Concern]:
    """An invitation that is open, and the agency's own limit when nine tenths of it are used."""
    waiting = Invitation.objects.filter(agency=agency, status=Invitation.Status.OPEN, workspace_uuid=None)
    emails = list(waiting.order_by("id").values_list("email", flat=True)[: MOST_NAMED + 1])
    if emails:
        names = ", ".join(emails[:MOST_NAMED]) + (" …" if len(emails) > MOST_NAMED else "")
        yield Concern(
            text=_("Invited to the team and not here yet: %(names)s") % {"names": names},
            url=reverse("console:team"),
            action=_("Team"),
        )
    most = agency.max_sub_accounts
    if most is not None and agency.sub_account_count * 10 >= most * 9:
        yield Concern(
            text=_("%(number)s of %(most)s sub-accounts are used.")
            % {"number": f"{agency.sub_account_count:,}", "most": f"{most:,}"},
            url=reverse("console:sub-accounts"),
            action=_("Sub-accounts"),
        )


invitation_handlers.add(TEAM)
landing_places.add(
    LandingPlace(name="console", url_name="console:home", order=10, is_open=_is_member, belongings=_memberships),
    LandingPlace(name="admin", url_name="admin:index", order=20, is_open=lambda user: user.is_staff),
)
console_menu.add(*MENU)
concern_sources.add(ConcernSource(name="agency", order=30, concerns=concerns))
first_steps.add(*STEPS)
figure_sources.add(FigureSource(name="agency", order=20, figures=figures))
label_actions(ACTIONS)
retention_rules.add(*RULES)
activity_targets.add(ActivityTarget("plan", "console:plan"), ActivityTarget("addon", "console:addon"))
