"""Queries for other apps: whether the catalogue offers anything, and lists to choose from."""

from workspaces.catalogue.models import Product, Service
from workspaces.subaccounts.models import Workspace

MOST_CHOICES = 50


def has_services(workspace: Workspace) -> bool:
    """Say whether the workspace offers a service or an active product."""
    offered = Service.objects.of(workspace).values("pk")
    sold = Product.objects.of(workspace).filter(active=True).values("pk")
    return offered[:1].union(sold[:1], all=True).exists()


def products_to_choose(*, workspace: Workspace, search: str = "", most: int = MOST_CHOICES) -> list[Product]:
    """Give active products by name. With `search`, give those that it finds."""
    rows = Product.objects.of(workspace).filter(active=True)
    rows = rows.matching(search) if search.strip() else rows
    return list(rows.order_by("name_key", "id")[:most])


def services_to_choose(
    *, workspace: Workspace, kind: str | None = None, search: str = "", most: int = MOST_CHOICES
) -> list[Service]:
    """Give services by name. With `kind`, give those of this kind; with `search`, those that it finds."""
    rows = Service.objects.of(workspace)
    rows = rows.filter(kind=kind) if kind else rows
    rows = rows.matching(search) if search.strip() else rows
    return list(rows.by_name()[:most])
