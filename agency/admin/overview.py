"""Support's overview of one agency and search over all, with the agency app's own panels and results."""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Final, TypeVar
from urllib.parse import urlencode

from django.contrib import admin
from django.db.models import Exists, OuterRef, Q
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone

from agency.models import (
    ActivityEntry,
    Agency,
    AgencyKey,
    BulkOperation,
    Domain,
    Event,
    Export,
    Mail,
    Member,
    Switch,
    TwoFactor,
    User,
)
from agency.models.jobs import ACTIVE
from agency.pages.activity import action_label, actor_of
from agency.pages.registry import alert_sources, in_order
from agency.pages.search import (
    SHORTEST_QUERY,
    ShownRows,
    SupportPanel,
    SupportRow,
    SupportSearchSource,
    SupportStartPanel,
    key_prefix,
    read_query,
    support_panels,
    support_search_sources,
)
from config.api.requests import parse_uuid
from config.db import name_key


def overview_of(agency_id: int) -> str:
    return reverse("admin:agency_agency_overview", args=[agency_id])


def found_agencies(query: str, most: int) -> Iterator[SupportRow]:
    uuid = parse_uuid(query)
    wanted = Q(uuid=uuid) if uuid else Q(name_key__startswith=name_key(query))
    for agency in Agency.objects.filter(wanted).order_by("name_key")[:most]:
        detail = f"{agency.get_status_display()} · {agency.sub_account_count:,} sub-accounts"
        yield SupportRow(title=agency.name, detail=detail, url=overview_of(agency.pk))


def found_hosts(query: str, most: int) -> Iterator[SupportRow]:
    rows = Domain.objects.filter(host__startswith=query.lower()).select_related("agency")
    for domain in rows.order_by("host", "id")[:most]:
        detail = f"{domain.agency} · {domain.get_state_display()}"
        yield SupportRow(title=domain.host, detail=detail, url=overview_of(domain.agency_id))


def search_members(query: str, most: int) -> Iterator[SupportRow]:
    """Look up users by the index of e-mail addresses first, then their memberships."""
    people = list(User.objects.filter(email__startswith=query.lower()).values_list("pk", flat=True)[:most])
    rows = Member.objects.filter(user__in=people).select_related("user", "agency")
    for member in rows.order_by("user__email", "id")[:most]:
        detail = f"{member.get_role_display()} · {member.agency}"
        yield SupportRow(title=member.user.email, detail=detail, url=overview_of(member.agency_id))


def found_keys(query: str, most: int) -> Iterator[SupportRow]:
    prefix = key_prefix(query)
    rows = AgencyKey.objects.filter(prefix=prefix).select_related("agency").order_by("-id")
    for key in rows[:most] if prefix else ():
        detail = f"{key.agency}{'' if key.is_live else f' · {key.state}'}"
        url = reverse("admin:agency_agencykey_change", args=[key.pk])
        yield SupportRow(title=f"{key.name} ({key.prefix}…)", detail=detail, url=url)


def found_events(query: str, most: int) -> Iterator[SupportRow]:
    """Find an event by its id, which its envelope carries and receivers have in their logs."""
    uuid = parse_uuid(query)
    for event in Event.objects.filter(uuid=uuid).select_related("agency")[:most] if uuid else ():
        url = reverse("admin:agency_event_change", args=[event.pk])
        yield SupportRow(title=event.name, detail=str(event.agency), url=url)


FindRows = Callable[[str, int], Iterable[SupportRow]]
RowsOf = Callable[[Agency, int], Iterable[SupportRow]]


def _source(name: str, label: str, order: int, model: str, find: FindRows) -> SupportSearchSource:
    return SupportSearchSource(name=name, label=label, order=order, permission=f"agency.view_{model}", find=find)


SUPPORT_SEARCH_SOURCES: Final = (
    _source("agencies", "Agencies", 10, "agency", found_agencies),
    _source("hosts", "Hosts", 15, "domain", found_hosts),
    _source("members", "Teams", 20, "member", search_members),
    _source("keys", "Agencies' API keys", 40, "agencykey", found_keys),
    _source("events", "Events", 50, "event", found_events),
)


WHEN: Final = "%Y-%m-%d %H:%M UTC"


def health(agency: Agency, most: int) -> Iterator[SupportRow]:
    """What the agency's own staff is asked to look at, and the reason for a suspension."""
    if not agency.is_active:
        yield SupportRow(title="The agency is suspended.", detail=agency.suspension_reason, is_problem=True)
    for source in in_order(alert_sources):
        for concern in source.concerns(agency):
            yield SupportRow(title=str(concern.text), is_problem=True)


def limits(agency: Agency, most: int) -> Iterator[SupportRow]:
    allowed = "no limit" if agency.max_sub_accounts is None else f"of {agency.max_sub_accounts:,}"
    full = agency.max_sub_accounts is not None and agency.sub_account_count >= agency.max_sub_accounts
    yield SupportRow(title=f"{agency.sub_account_count:,} sub-accounts", detail=allowed, is_problem=full)
    required = ", ".join(agency.two_factor_roles) or "nobody"
    yield SupportRow(title="Two-factor is required of", detail=required)


def switches(agency: Agency, most: int) -> Iterator[SupportRow]:
    """The installation's switches; a missing row means on."""
    rows = {switch.name: switch for switch in Switch.objects.all()[:most]}
    for name, label in Switch.Name.choices:
        switch = rows.get(name)
        is_off = switch is not None and not switch.enabled
        detail = f"off: {switch.reason}" if switch and is_off else "on"
        url = reverse("admin:agency_switch_change", args=[name])
        yield SupportRow(title=str(label), detail=detail, url=url, is_problem=is_off)


def members(agency: Agency, most: int) -> Iterator[SupportRow]:
    """The team with roles, and whether each member uses two-factor."""
    confirmed = TwoFactor.objects.filter(user=OuterRef("user"), confirmed_at__isnull=False)
    team = Member.objects.filter(agency=agency).select_related("user").annotate(has_two_factor=Exists(confirmed))
    for member in team.order_by("id")[:most]:
        is_safe: bool = getattr(member, "has_two_factor", False)
        detail = f"{member.get_role_display()} · two-factor {'on' if is_safe else 'off'}"
        yield SupportRow(
            title=member.user.email,
            detail=detail if member.user.is_active else f"{detail} · may not sign in",
            url=reverse("admin:agency_member_change", args=[member.pk]),
            is_problem=not is_safe and member.role in agency.two_factor_roles,
        )


def domains(agency: Agency, most: int) -> Iterator[SupportRow]:
    for domain in Domain.objects.of(agency).order_by("-is_primary", "id")[:most]:
        is_failing = domain.failing_since is not None
        parts = [domain.get_state_display(), domain.get_finding_display()]
        yield SupportRow(
            title=domain.host,
            detail=" · ".join([*map(str, parts), *(["points elsewhere"] if domain.points_here is False else [])]),
            url=reverse("admin:agency_domain_change", args=[domain.pk]),
            is_problem=is_failing or domain.state != Domain.State.VERIFIED or domain.points_here is False,
        )


def keys(agency: Agency, most: int) -> Iterator[SupportRow]:
    for key in AgencyKey.objects.filter(agency=agency).order_by("-id")[:most]:
        used = f"last used {key.last_used_at:{WHEN}}" if key.last_used_at else "never used"
        yield SupportRow(
            title=f"{key.name} ({key.prefix}…)",
            detail=used if key.is_live else f"{key.state} · {used}",
            url=reverse("admin:agency_agencykey_change", args=[key.pk]),
        )


def failed_mails(agency: Agency, most: int) -> Iterator[SupportRow]:
    """E-mails whose last attempt failed and that have not been sent since."""
    failed = Mail.objects.filter(agency=agency, sent_at=None, failed_at__isnull=False).order_by("-failed_at")
    for mail in failed.defer("context")[:most]:
        yield SupportRow(
            title=f"{mail.kind} to {mail.recipient}",
            detail=f"{mail.failed_at:{WHEN}} · {mail.get_failure_display()}",
            url=reverse("admin:agency_mail_change", args=[mail.pk]),
            is_problem=mail.given_up_at is not None,
        )


def jobs(agency: Agency, most: int) -> Iterator[SupportRow]:
    """The newest bulk changes and exports: how long the active ones have run, and why others stopped."""
    for kind, rows in (("Bulk change", BulkOperation.objects), ("Export", Export.objects)):
        yield from _jobs(kind, rows.filter(agency=agency).order_by("-id")[: most // 2])


def _jobs(kind: str, rows: Iterable[BulkOperation | Export]) -> Iterator[SupportRow]:
    for job in rows:
        minutes = int((timezone.now() - job.created_at).total_seconds() // 60)
        since = f"for {minutes:,} minutes" if job.state in ACTIVE else f"{job.created_at:{WHEN}}"
        yield SupportRow(
            title=f"{kind} {job}",
            detail=" · ".join(filter(None, [str(job.get_state_display()), since, job.stopped_because])),
            url=reverse(f"admin:agency_{job._meta.model_name}_change", args=[job.pk]),
            is_problem=job.state in {job.State.STOPPED, job.State.FAILED},
        )


def activity(agency: Agency, most: int) -> Iterator[SupportRow]:
    for entry in ActivityEntry.objects.filter(agency=agency).order_by("-id")[:most]:
        yield SupportRow(
            title=f"{action_label(entry.action)} · {entry.target_name}",
            detail=f"{entry.at:{WHEN}} · {actor_of(entry)}",
            url=reverse("admin:agency_activityentry_change", args=[entry.pk]),
        )


def _panel(name: str, label: str, order: int, model: str, rows: RowsOf, *, has_list: bool = True) -> SupportPanel:
    url_name = f"admin:agency_{model}_changelist" if has_list else ""
    permission = f"agency.view_{model}"
    return SupportPanel(name=name, label=label, order=order, permission=permission, rows=rows, url_name=url_name)


SUPPORT_PANELS: Final = (
    _panel("health", "Health", 10, "agency", health, has_list=False),
    _panel("limits", "Limits", 20, "agency", limits, has_list=False),
    _panel("switches", "Switches of the installation", 90, "switch", switches, has_list=False),
    _panel("members", "Team", 40, "member", members),
    _panel("domains", "Domains", 50, "domain", domains),
    _panel("keys", "API keys", 60, "agencykey", keys),
    _panel("failed-mails", "E-mails that failed", 34, "mail", failed_mails),
    _panel("jobs", "Jobs", 36, "agency", jobs, has_list=False),
    _panel("activity", "Latest activity", 80, "activityentry", activity),
)


def suspended_agencies(most: int) -> Iterator[SupportRow]:
    rows = Agency.objects.filter(status=Agency.Status.SUSPENDED).order_by("-suspended_at", "-id")
    for agency in rows[:most]:
        since = f"since {agency.suspended_at:{WHEN}}" if agency.suspended_at else ""
        detail = " · ".join(filter(None, [since, agency.suspension_reason]))
        yield SupportRow(title=agency.name, detail=detail, url=overview_of(agency.pk), is_problem=True)


def failing_domains(most: int) -> Iterator[SupportRow]:
    rows = Domain.objects.filter(failing_since__isnull=False).select_related("agency")
    for domain in rows.order_by("-failing_since", "-id")[:most]:
        yield SupportRow(
            title=domain.host,
            detail=f"{domain.agency} · {domain.get_finding_display()} · since {domain.failing_since:{WHEN}}",
            url=reverse("admin:agency_domain_change", args=[domain.pk]),
            is_problem=True,
        )


SUPPORT_START_PANELS: Final = (
    SupportStartPanel(
        name="suspended-agencies",
        label="Suspended agencies",
        order=10,
        permission="agency.view_agency",
        rows=suspended_agencies,
        url_name="admin:agency_agency_changelist",
    ),
    SupportStartPanel(
        name="failing-domains",
        label="Failing domains",
        order=50,
        permission="agency.view_domain",
        rows=failing_domains,
        url_name="admin:agency_domain_changelist",
    ),
)


MOST_ROWS: Final = 8
Declared = TypeVar("Declared", SupportPanel, SupportSearchSource)


def overview_page(request: HttpRequest, agency: Agency) -> HttpResponse:
    """Show an agency: its problems, its people, its limits, and what happened last."""

    def rows(panel: SupportPanel) -> Iterable[SupportRow]:
        return panel.rows(agency, MOST_ROWS + 1)

    return _page(
        request,
        "admin/agency/agency/overview.html",
        title=str(agency),
        original=agency,
        panels=[(shown, _list_of(shown.declared, agency)) for shown in _shown(request, support_panels, rows)],
    )


def find_page(request: HttpRequest) -> HttpResponse:
    """Find rows of all agencies by a name, a host, an e-mail address, a key's prefix or an id."""
    query = read_query(request.GET.get("q", ""))

    def rows(source: SupportSearchSource) -> Iterable[SupportRow]:
        return source.find(query, MOST_ROWS + 1)

    groups = list(_shown(request, support_search_sources, rows)) if len(query) >= SHORTEST_QUERY else []
    return _page(
        request,
        "admin/agency/agency/find.html",
        title="Search all agencies",
        query=query,
        groups=[group for group in groups if group.rows],
    )


def _shown(
    request: HttpRequest, declared: Iterable[Declared], rows: Callable[[Declared], Iterable[SupportRow]]
) -> Iterator[ShownRows]:
    for one in in_order(declared):
        if request.user.has_perm(one.permission):
            found = list(islice(rows(one), MOST_ROWS + 1))
            yield ShownRows(one, found[:MOST_ROWS], len(found) > MOST_ROWS)


def _list_of(panel: SupportPanel | SupportSearchSource | SupportStartPanel, agency: Agency) -> str:
    name = panel.url_name if isinstance(panel, SupportPanel) else ""
    return f"{reverse(name)}?{urlencode({'agency__id__exact': agency.pk})}" if name else ""


def _page(request: HttpRequest, template: str, **context: object) -> HttpResponse:
    return TemplateResponse(request, template, {**admin.site.each_context(request), "opts": Agency._meta, **context})
