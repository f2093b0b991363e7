"""What an agency needs before its customers can connect channels."""

from datetime import timedelta
from secrets import token_bytes
from typing import Any

from django.utils.timezone import now

from agency.actors import SYSTEM
from channelconnect.models import ConnectSession
from channelconnect.services.sessions.creation import create_session
from channelconnect.services.settings import set_return_urls, switch_connect
from tests.tenants import Tenant

RETURN_URL = "https://app.example.com/done"


def switch_on(tenant: Tenant, *return_urls: str) -> Tenant:
    switch_connect(agency=tenant.agency, enabled=True, reason="Asked for it", by=SYSTEM)
    set_return_urls(agency=tenant.agency, return_urls=return_urls or (RETURN_URL,), by=SYSTEM)
    return tenant


def wanted(**changes: Any) -> dict[str, Any]:
    """A body for a new connection."""
    return {"platform": "whatsapp", "return_url": RETURN_URL, "state": "customer-4711"} | changes


def path_of(tenant: Tenant) -> str:
    return f"{tenant.path}/channel-connections"


def a_session(tenant: Tenant, *, platform: str = "whatsapp", state: str | None = None, **more: Any) -> ConnectSession:
    """A session of the tenant's one sub-account, made by the service."""
    return create_session(
        agency=tenant.agency,
        workspace=tenant.workspace,
        platform=platform,
        return_url=RETURN_URL,
        state=state,
        now=now(),
        by=SYSTEM,
        **more,
    )


def many_sessions(tenant: Tenant, count: int, *, state: str = "") -> None:
    """So many sessions of the tenant's one sub-account, in bulk and a second apart; the last is the newest."""
    first = now() - timedelta(seconds=count)
    ConnectSession.objects.bulk_create(
        ConnectSession(
            agency=tenant.agency,
            workspace=tenant.workspace,
            platform="whatsapp",
            return_url=RETURN_URL,
            state=state.format(number) or None,
            link_digest=token_bytes(32),
            created_at=first + timedelta(seconds=number),
            expires_at=first + timedelta(seconds=number, minutes=30),
        )
        for number in range(count)
    )


def connection_events(tenant: Tenant) -> list[str]:
    """The names of the agency's channel events, oldest first."""
    return [name for name in tenant.event_names() if name.startswith("channel.connection.")]
