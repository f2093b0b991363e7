"""Models of products and services."""

from workspaces.catalogue.models.products import Product
from workspaces.catalogue.models.services import Service, ServiceCategory
from workspaces.catalogue.models.stock import StockMovement

__all__ = ["Product", "Service", "ServiceCategory", "StockMovement"]
