"""The console's changes and the operations of the agency's API that make the same."""

from datetime import timedelta
from typing import Any

from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import Plan
from packs.models import Pack
from packs.services import add_library_entry, change_pack, create_pack
from tests.channelconnect.agencies import RETURN_URL
from tests.factories import PlanFactory, plan_limits
from tests.factories.webhooks import a_failed_delivery
from tests.same_changes.changes import Change, of_agency
from tests.tenants import Tenant
from workspaces.subaccounts.services import revoke_addon, suspend_workspace

YESTERDAY = (now() - timedelta(days=1)).strftime("%Y-%m-%dT%H:%M:00Z")


def suspended(tenant: Tenant) -> None:
    suspend_workspace(workspace=tenant.workspace, reason="", now=now(), by=SYSTEM)


def failed(tenant: Tenant) -> dict[str, Any]:
    return {"delivery": a_failed_delivery(tenant, tenant.endpoint).uuid}


def published(tenant: Tenant) -> None:
    change_pack(pack=tenant.pack, status="published", by=SYSTEM)


def newcomer(tenant: Tenant) -> None:
    owner = tenant.workspace.owner
    owner.set_unusable_password()
    owner.save()


def another_plan(tenant: Tenant) -> None:
    PlanFactory.create(agency=tenant.agency, name="Gold", limits=plan_limits(contacts=7))


def gold(tenant: Tenant) -> dict[str, Any]:
    return {"plan": str(Plan.objects.get(agency=tenant.agency, name="Gold").uuid)}


def not_held(tenant: Tenant) -> None:
    revoke_addon(workspace=tenant.workspace, addon=tenant.addon, now=now(), by=SYSTEM)


def two_packs(tenant: Tenant) -> None:
    create_pack(agency=tenant.agency, name="Second", by=SYSTEM)


def packs_reversed(tenant: Tenant) -> list[str]:
    return [str(pack.uuid) for pack in Pack.objects.of(tenant.agency).order_by("-position")]


def two_entries(tenant: Tenant) -> None:
    add_library_entry(pack=tenant.pack, template_id="salons-birthday-offer", by=SYSTEM)


def entries_reversed(tenant: Tenant) -> list[str]:
    return [str(entry.uuid) for entry in tenant.pack.entries.order_by("-position")]


def name(value: str) -> Any:
    return lambda _: {"name": value}


CONSOLE = {
    "plan-new": Change(
        call=of_agency("POST plans"), fields=name("Growth"), body=lambda _: {"name": "Growth", "limits": {}}
    ),
    "plan-edit": Change(call=of_agency("PATCH plans/<id:plan>"), ids=("plan",), fields=name("New"), body=name("New")),
    "plan-archive": Change(call=of_agency("DELETE plans/<id:plan>"), ids=("plan",)),
    "addon-new": Change(
        call=of_agency("POST addons"), fields=name("More"), body=lambda _: {"name": "More", "limits": {}}
    ),
    "addon-edit": Change(
        call=of_agency("PATCH addons/<id:addon>"), ids=("addon",), fields=name("New"), body=name("New")
    ),
    "addon-archive": Change(call=of_agency("DELETE addons/<id:addon>"), ids=("addon",)),
    "sub-account-new": Change(
        call=of_agency("POST workspaces"),
        fields=lambda a: {"name": "Shop", "owner_name": "Ada", "owner_email": f"{a.mark}-ada@example.com"},
        body=lambda a: {"name": "Shop", "owner": {"name": "Ada", "email": f"{a.mark}-ada@example.com"}},
    ),
    "sub-account-edit": Change(
        call=of_agency("PATCH workspaces/<id:workspace>"), ids=("workspace",), fields=name("New"), body=name("New")
    ),
    "sub-account-suspend": Change(
        call=of_agency("POST workspaces/<id:workspace>/suspend"),
        ids=("workspace",),
        fields=lambda _: {"reason": "Not paid"},
        body=lambda _: {"reason": "Not paid"},
    ),
    "sub-account-restore": Change(
        call=of_agency("POST workspaces/<id:workspace>/restore"), ids=("workspace",), prepare=suspended
    ),
    "sub-account-owner": Change(
        call=of_agency("PUT workspaces/<id:workspace>/owner"),
        ids=("workspace",),
        fields=lambda a: {"name": "Eve", "email": f"{a.mark}-eve@example.com"},
        body=lambda a: {"name": "Eve", "email": f"{a.mark}-eve@example.com"},
    ),
    "sub-account-owner-invite": Change(
        call=of_agency("POST workspaces/<id:workspace>/owner/invite"), ids=("workspace",), prepare=newcomer
    ),
    "sub-account-plan": Change(
        call=of_agency("PUT workspaces/<id:workspace>/plan"),
        ids=("workspace",),
        fields=gold,
        body=gold,
        prepare=another_plan,
    ),
    "sub-account-addons": Change(
        call=of_agency("POST workspaces/<id:workspace>/addons"),
        ids=("workspace",),
        fields=lambda a: {"addon": str(a.addon.uuid)},
        body=lambda a: {"addon": str(a.addon.uuid)},
        prepare=not_held,
    ),
    "sub-account-addon-revoke": Change(
        call=of_agency("DELETE workspaces/<id:workspace>/addons/<id:addon>"), ids=("workspace", "addon")
    ),
    "sub-account-channel-disconnect": Change(
        call=of_agency("DELETE workspaces/<id:workspace>/channels/<id:channel>"), ids=("workspace", "channel")
    ),
    "webhook-new": Change(
        call=of_agency("POST webhooks"),
        fields=lambda _: {"url": "https://93.184.215.14/new", "events": ["workspace.created"], "enabled": "on"},
        body=lambda _: {"url": "https://93.184.215.14/new", "events": ["workspace.created"]},
    ),
    "webhook-edit": Change(
        call=of_agency("PATCH webhooks/<id:webhook>"),
        ids=("webhook",),
        fields=lambda _: {"description": "CRM"},
        body=lambda _: {"description": "CRM"},
    ),
    "webhook-rotate": Change(
        call=of_agency("POST webhooks/<id:webhook>/rotate-secret"),
        ids=("webhook",),
        body=lambda _: {"overlap_hours": 24},
    ),
    "webhook-remove": Change(call=of_agency("DELETE webhooks/<id:webhook>"), ids=("webhook",)),
    "webhook-test": Change(call=of_agency("POST webhooks/<id:webhook>/test"), ids=("webhook",)),
    "webhook-redeliver": Change(
        call=of_agency("POST webhooks/deliveries/<id:delivery>/redeliver"), ids=("delivery",), prepare=failed
    ),
    "pack-new": Change(call=of_agency("POST packs"), fields=name("Starter"), body=name("Starter")),
    "pack-edit": Change(call=of_agency("PATCH packs/<id:pack>"), ids=("pack",), fields=name("New"), body=name("New")),
    "pack-publish": Change(
        call=of_agency("PATCH packs/<id:pack>"), ids=("pack",), body=lambda _: {"status": "published"}
    ),
    "pack-archive": Change(
        call=of_agency("PATCH packs/<id:pack>"), ids=("pack",), body=lambda _: {"status": "archived"}, prepare=published
    ),
    "pack-draft": Change(
        call=of_agency("PATCH packs/<id:pack>"), ids=("pack",), body=lambda _: {"status": "draft"}, prepare=published
    ),
    "pack-remove": Change(call=of_agency("DELETE packs/<id:pack>"), ids=("pack",)),
    "pack-entry": Change(
        call=of_agency("PATCH packs/<id:pack>/entries/<id:entry>"),
        ids=("pack", "entry"),
        fields=lambda _: {"tier": "optional"},
        body=lambda _: {"tier": "optional"},
    ),
    "pack-entry-remove": Change(call=of_agency("DELETE packs/<id:pack>/entries/<id:entry>"), ids=("pack", "entry")),
    "pack-add": Change(
        call=of_agency("POST packs/<id:pack>/entries"),
        ids=("pack",),
        fields=lambda _: {"template_id": "salons-birthday-offer"},
        body=lambda _: {"template_id": "salons-birthday-offer"},
    ),
    "packs-order": Change(
        call=of_agency("PUT packs/order"),
        fields=lambda a: {"order": ",".join(packs_reversed(a))},
        body=lambda a: {"order": packs_reversed(a)},
        prepare=two_packs,
    ),
    "pack-order": Change(
        call=of_agency("PUT packs/<id:pack>/entries/order"),
        ids=("pack",),
        fields=lambda a: {"order": ",".join(entries_reversed(a))},
        body=lambda a: {"order": entries_reversed(a)},
        prepare=two_entries,
    ),
    "webhook-redeliver-failed": Change(
        call=of_agency("POST webhooks/<id:webhook>/replay"),
        fields=lambda a: {"webhook": str(a.endpoint.uuid), "since": YESTERDAY[:16]},
        body=lambda _: {"since": YESTERDAY},
        prepare=failed,
    ),
    "packs-visibility": Change(
        call=of_agency("PUT packs/visibility"),
        fields=lambda _: {"replace_platform": "on"},
        body=lambda _: {"replace_platform": True},
    ),
    "channel-connect-return-urls": Change(
        call=of_agency("PUT channel-connect/settings"),
        fields=lambda _: {"return_urls": f"{RETURN_URL}\nhttps://shop.example/back"},
        body=lambda _: {"return_urls": [RETURN_URL, "https://shop.example/back"]},
    ),
    "channel-connect-start-for": Change(
        call=of_agency("POST workspaces/<id:workspace>/channel-connections"),
        ids=("workspace",),
        fields=lambda _: {"platform": "whatsapp", "return_url": RETURN_URL},
        body=lambda _: {"platform": "whatsapp", "return_url": RETURN_URL},
    ),
    "channel-connect-cancel": Change(
        call=of_agency("POST workspaces/<id:workspace>/channel-connections/<id:connection>/cancel"), ids=("connection",)
    ),
}

# What people change in the console alone, as no operation of the agency's API does.
ONLY_PAGES = {
    "webhook-dismiss": "failures that the pages tell of: tests/webhooks/services",
    "switch": "which agency a person looks at",
    "saved-view-save": "a person's own",
    "saved-view-remove": "a person's own",
    "notifications-read": "a person's own",
    "notification-settings": "a person's own",
    "plan-default": "the plan of sign-ups and new sub-accounts, which the API's creation takes from here",
    "api-key-new": "a key makes no keys",
    "api-key-roll": "a key makes no keys of its own agency",
    "api-key-revoke": "a key ends no keys",
    "brand-colour": "the brand",
    "brand-language": "the brand",
    "brand-logo": "the brand",
    "brand-logo-remove": "the brand",
    "brand-dark-logo": "the brand",
    "brand-dark-logo-remove": "the brand",
    "brand-favicon": "the brand",
    "brand-favicon-remove": "the brand",
    "sign-up-edit": "sign-up",
    "ai-account-new": "A.I. accounts",
    "ai-account-edit": "A.I. accounts",
    "ai-account-remove": "A.I. accounts",
    "ai-budget": "A.I. accounts",
    "ai-account-test": "a call of the account's provider",
    "domain-new": "domains",
    "domain-check": "domains",
    "domain-primary": "domains",
    "domain-remove": "domains",
    "mail-sender": "e-mail",
    "mail-server": "e-mail",
    "mail-server-remove": "e-mail",
    "mail-test": "e-mail",
    "mail-again": "e-mail",
    "team-invite": "the agency's people",
    "team-two-factor": "the agency's people",
    "invitation-again": "the agency's people",
    "invitation-withdraw": "the agency's people",
    "member": "the agency's people",
    "member-remove": "the agency's people",
    "bulk-operation-new": "each verb on many: test_bulk.py in the tests of each app's console",
    "bulk-operation-cancel": "a job of the console's",
    "export-new": "a job of the console's",
    "export-cancel": "a job of the console's",
    "sub-account-open": "a person looks at a customer's dashboard",
    "pack-copy-preview": "two operations in one: tests/packs",
    "pack-install-for": "an installation for a customer",
}
