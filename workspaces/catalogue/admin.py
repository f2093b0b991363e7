"""Read-only pages of the support admin about products, services and staff."""

from django.contrib import admin
from django.db.models import Model, QuerySet

from agency.admin.base import ReadOnlyAdmin, by_uuid
from config.api.requests import parse_uuid
from workspaces.catalogue.models import Product, Service, ServiceCategory, Staff, StockMovement

SEARCH = "A uuid, or its sub-account's."


class CatalogueAdmin(ReadOnlyAdmin):
    list_select_related = ("workspace",)
    search_fields = ("uuid",)
    search_help_text = SEARCH

    def search(self, queryset: "QuerySet[Model]", term: str) -> "QuerySet[Model]":
        found = parse_uuid(term)
        of_workspace = queryset.filter(workspace__uuid=found) if found else queryset.none()
        return by_uuid(queryset, term) | of_workspace


@admin.register(ServiceCategory)
class ServiceCategoryAdmin(CatalogueAdmin):
    list_display = ("name", "workspace", "created_at")
    fields = ("uuid", "workspace", "name", "created_at")


@admin.register(Service)
class ServiceAdmin(CatalogueAdmin):
    list_display = ("name", "kind", "workspace", "created_at", "deleted_at")
    fields = (
        "uuid",
        "workspace",
        "name",
        "kind",
        "category",
        "duration_minutes",
        "price",
        "created_at",
        "updated_at",
        "deleted_at",
    )


@admin.register(Product)
class ProductAdmin(CatalogueAdmin):
    list_display = ("name", "active", "price", "stock_level", "workspace", "created_at", "deleted_at")
    fields = (
        "uuid",
        "workspace",
        "name",
        "description",
        "price",
        "track_stock",
        "stock_level",
        "active",
        "category",
        "created_at",
        "updated_at",
        "deleted_at",
    )


@admin.register(Staff)
class StaffAdmin(CatalogueAdmin):
    list_display = ("name", "email", "workspace", "created_at", "deleted_at")
    fields = ("uuid", "workspace", "name", "email", "created_at", "deleted_at")


@admin.register(StockMovement)
class StockMovementAdmin(ReadOnlyAdmin):
    list_display = ("product", "before", "change", "after", "reason", "actor_label", "created_at")
    list_select_related = ("product",)
    search_fields = ("product__uuid",)
    search_help_text = "A product's uuid."
    fields = ("uuid", "product", "before", "change", "after", "reason", "actor_kind", "actor_label", "created_at")

    def search(self, queryset: "QuerySet[Model]", term: str) -> "QuerySet[Model]":
        found = parse_uuid(term)
        return queryset.filter(product__uuid=found) if found else queryset.none()
