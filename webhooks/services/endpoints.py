"""Creates, changes and removes endpoints, and checks their URLs."""

import base64
import secrets
from collections.abc import Collection, Iterable
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, TypedDict, Unpack

from django.conf import settings
from django.db import transaction
from django.db.models.functions import Now

from agency.actors import Actor
from agency.models import Agency
from agency.services import record_activity
from agency.services.activity import Changes, changes_to
from agency.services.events import DISPATCHER
from agency.tenants import Tenant
from config.celery import wake_up
from config.db import CurrentTransaction, database_now
from config.encryption import value_to_save
from config.errors import Forbidden, InvalidInput, NotFound
from config.http.guard import URLRefused, VettedTarget, check_url
from config.http.resolver import LookupFailed, Resolver
from webhooks.models import Endpoint
from webhooks.services.queueing import end_waiting
from webhooks.signing import SECRET_PREFIX
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import tenant_of
from workspaces.subaccounts.services.recording import lock_workspace


class UrlRefused(InvalidInput):
    field = "url"
    message = "The URL's host must be publicly reachable."


@lru_cache(maxsize=1)
def resolver() -> Resolver:
    """Return the process's resolver. Its threads start with the first look-up, so after any fork."""
    return Resolver()


def check_endpoint_url(url: str) -> VettedTarget:
    """Parse and resolve a URL and check every address of its host. Raises `UrlRefused`.

    It makes DNS look-ups, so it must not be called inside a transaction.
    """
    try:
        return check_url(url, allowed=settings.WEBHOOK_ALLOWED_NETWORKS, resolve=resolver().resolve)
    except URLRefused as refusal:
        raise UrlRefused(str(refusal)) from refusal
    except LookupFailed as failure:
        raise UrlRefused("The URL's host could not be looked up. Try again in a moment.") from failure


# The limit of an agency's own endpoints, and of each workspace's.
MOST_ENDPOINTS = 100
# Earlier failures say nothing about a new URL, or about an endpoint that was disabled meanwhile.
FAILURES_BEGIN_ANEW = ("url", "enabled")


class EndpointNotFound(NotFound):
    message = "Webhook not found."


class TooManyEndpoints(Forbidden):
    message = "The webhook limit is reached."


def new_secret() -> str:
    """Return `whsec_` and 44 characters of standard base64 (32 random bytes)."""
    return SECRET_PREFIX + base64.b64encode(secrets.token_bytes(32)).decode()


def register_endpoint(
    *,
    tenant: Tenant,
    url: str,
    events: Collection[str],
    by: Actor,
    description: str = "",
    enabled: bool = True,
    retries: str = Endpoint.Retries.STANDARD,
    vetted: VettedTarget | None = None,
) -> Endpoint:
    """Register an endpoint and return it with its new secret. Raises `UrlRefused` and `TooManyEndpoints`.

    Callers inside a transaction check the URL before and pass the result as `vetted`.
    """
    if vetted is None:
        check_endpoint_url(url)
    with transaction.atomic():
        tenant = _lock_tenant(tenant)
        _require_room(tenant)
        endpoint = Endpoint.objects.create(
            agency_id=tenant.agency_id,
            workspace_id=tenant.workspace_id,
            workspace_uuid=tenant.workspace_uuid,
            url=url,
            events=_in_order(events),
            description=description,
            enabled=enabled,
            retries=retries,
            secret=new_secret(),
        )
        _record(endpoint, "webhook.created", by, {"url": endpoint.recorded_url, "events": endpoint.events})
    return endpoint


def _lock_tenant(tenant: Tenant) -> Tenant:
    """Lock the agency, and the workspace if there is one. Return the tenant, with the workspace's present agency."""
    Agency.objects.select_for_update(no_key=True).only("pk").get(pk=tenant.agency_id)
    if tenant.workspace_id is None:
        return tenant
    return tenant_of(lock_workspace(Workspace(pk=tenant.workspace_id)))


def _require_room(tenant: Tenant) -> None:
    """Check the limit of endpoints. The tenant's lock keeps concurrent registrations from exceeding it."""
    if Endpoint.objects.of_tenant(tenant).count() >= MOST_ENDPOINTS:
        raise TooManyEndpoints


class EndpointChanges(TypedDict, total=False):
    """The fields of an endpoint that can be changed."""

    url: str
    events: Collection[str]
    description: str
    enabled: bool
    retries: str


def update_endpoint(*, endpoint: Endpoint, by: Actor, **changes: Unpack[EndpointChanges]) -> Endpoint:
    """Change the given fields of an endpoint. Disabling it fails its waiting deliveries. Raises `UrlRefused`."""
    if changes.get("url", endpoint.url) != endpoint.url:
        check_endpoint_url(changes["url"])
    if "events" in changes:
        changes["events"] = _in_order(changes["events"])
    with transaction.atomic():
        endpoint = _lock(endpoint)
        changed = {field: value for field, value in changes.items() if getattr(endpoint, field) != value}
        made = changes_to(endpoint, changed)
        for field, value in changed.items():
            setattr(endpoint, field, value)
        if changed:
            begins_anew = not changed.keys().isdisjoint(FAILURES_BEGIN_ANEW)
            if begins_anew:
                endpoint.failing_since = None
            _save(endpoint, [*changed, *(["failing_since"] if begins_anew else [])])
            _record(endpoint, "webhook.changed", by, changes=made)
    return endpoint


@transaction.atomic
def remove_endpoint(*, endpoint: Endpoint, now: datetime, by: Actor) -> None:
    """Remove an endpoint and erase its secrets. Its waiting deliveries fail."""
    endpoint = _lock(endpoint)
    endpoint.removed_at, endpoint.enabled = now, False
    endpoint.secret = endpoint.previous_secret = endpoint.previous_secret_until = None
    _save(endpoint, ["removed_at", "enabled", "secret", "previous_secret", "previous_secret_until"])
    _record(endpoint, "webhook.removed", by)


@transaction.atomic
def dismiss_failures(*, endpoint: Endpoint, until: datetime, number: int, by: Actor) -> Endpoint:
    """Dismiss the failures up to a moment, after a person has seen them. They need no attention any more.

    Later failures still do. All failures stay in the log and can be sent again. `number` is how many the person saw,
    for the activity log.
    """
    endpoint = _lock(endpoint)
    until = min(until, database_now())
    if endpoint.failures_dismissed_at is None or endpoint.failures_dismissed_at < until:
        endpoint.failures_dismissed_at = until
        Endpoint.objects.filter(pk=endpoint.pk).update(failures_dismissed_at=until)
        _record(endpoint, "webhook.failures_dismissed", by, {"number": number, "until": until.isoformat()})
    return endpoint


@transaction.atomic
def rotate_secret(*, endpoint: Endpoint, by: Actor, overlap_hours: int = 0) -> Endpoint:
    """Replace the signing secret. For `overlap_hours` the old secret signs every attempt too.

    The overlap of an earlier rotation ends at once.
    """
    endpoint = _lock(endpoint)
    old, endpoint.secret = endpoint.secret, new_secret()
    endpoint.previous_secret = old if overlap_hours else None
    _save(
        endpoint,
        ["secret", "previous_secret"],
        previous_secret_until=Now() + timedelta(hours=overlap_hours) if overlap_hours else None,
    )
    endpoint.refresh_from_db(fields=["previous_secret_until"])
    details = {"overlap_hours": overlap_hours} if overlap_hours else None
    _record(endpoint, "webhook.secret_rotated", by, details)
    return endpoint


def _lock(endpoint: Endpoint) -> Endpoint:
    locked = Endpoint.objects.select_for_update(no_key=True).filter(pk=endpoint.pk, removed_at=None).first()
    if locked is None:
        raise EndpointNotFound
    return locked


def _save(endpoint: Endpoint, fields: Iterable[str], **expressions: object) -> None:
    """Save an edit and tell the dispatchers, which may have leased deliveries of the endpoint."""
    Endpoint.objects.filter(pk=endpoint.pk).update(
        edited_in=CurrentTransaction(), **{field: value_to_save(endpoint, field) for field in fields}, **expressions
    )
    if not endpoint.enabled:
        end_waiting(endpoint)
    wake_up(DISPATCHER)


def _in_order(events: Collection[str]) -> list[str]:
    return list(dict.fromkeys(events))


def _record(
    endpoint: Endpoint, action: str, by: Actor, details: dict[str, Any] | None = None, changes: Changes | None = None
) -> None:
    target = ("webhook", endpoint.uuid, endpoint.recorded_url)
    record_activity(
        by=by,
        action=action,
        agency_id=endpoint.agency_id,
        workspace_uuid=endpoint.workspace_uuid,
        target=target,
        details=details,
        changes=changes,
    )


def has_subscribers(tenant: Tenant, event: str) -> bool:
    """Return whether any enabled endpoint of the tenant subscribes to this event."""
    return Endpoint.objects.of_tenant(tenant).filter(enabled=True, events__contains=[event]).exists()


def subscriptions(workspaces: Collection[int]) -> dict[int, set[str]]:
    """Return, for each of these workspaces, the events that its enabled endpoints subscribe to."""
    wanted: dict[int, set[str]] = {}
    open_ones = Endpoint.objects.filter(workspace_id__in=list(workspaces), enabled=True, removed_at=None)
    for endpoint in open_ones.only("workspace_id", "events"):
        wanted.setdefault(endpoint.workspace_id or 0, set()).update(endpoint.events)
    return wanted
