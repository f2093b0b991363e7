"""Every change of the catalogue: one verb, one function, one transaction."""

from workspaces.catalogue.services.categories import (
    MOST_CATEGORIES,
    ServiceCategoryInUse,
    ServiceCategoryLimitReached,
    ServiceCategoryNameTaken,
    ServiceCategoryNotFound,
    create_category,
    delete_category,
    rename_category,
)
from workspaces.catalogue.services.choosing import has_services, products_to_choose, services_to_choose
from workspaces.catalogue.services.names import require_room_for_one, save_named
from workspaces.catalogue.services.products import ProductChanges, change_product, create_product, delete_product
from workspaces.catalogue.services.services import (
    MOST_SERVICES,
    ServiceChanges,
    ServiceInUse,
    ServiceLimitReached,
    ServiceNameTaken,
    ServiceNotFound,
    ServiceUse,
    change_service,
    create_service,
    delete_service,
    hold_service,
    service_uses,
)
from workspaces.catalogue.services.stock import (
    CHANGE_REASONS,
    NotEnoughStock,
    ProductNotFound,
    StockNotTracked,
    change_stock,
)

__all__ = [
    "CHANGE_REASONS",
    "MOST_CATEGORIES",
    "MOST_SERVICES",
    "NotEnoughStock",
    "ProductChanges",
    "ProductNotFound",
    "ServiceCategoryInUse",
    "ServiceCategoryLimitReached",
    "ServiceCategoryNameTaken",
    "ServiceCategoryNotFound",
    "ServiceChanges",
    "ServiceInUse",
    "ServiceLimitReached",
    "ServiceNameTaken",
    "ServiceNotFound",
    "ServiceUse",
    "StockNotTracked",
    "change_product",
    "change_service",
    "change_stock",
    "create_category",
    "create_product",
    "create_service",
    "delete_category",
    "delete_product",
    "delete_service",
    "has_services",
    "hold_service",
    "products_to_choose",
    "rename_category",
    "require_room_for_one",
    "save_named",
    "service_uses",
    "services_to_choose",
]
