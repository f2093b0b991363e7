"""Products with their stock ledger, services and their categories, and the staff."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpResponse
from django.urls import path
from django.utils import timezone
from rest_framework.request import Request

from config.api.operations import object_response, operation, page_response
from config.api.serializers import DeletedSerializer
from workspaces.catalogue.models import Product, Service, ServiceCategory, Staff
from workspaces.catalogue.serializers import (
    ProductBodySerializer,
    ProductFilterSet,
    ProductSerializer,
    ServiceBodySerializer,
    ServiceCategoryFilterSet,
    ServiceCategorySerializer,
    ServiceFilterSet,
    ServiceSerializer,
    StaffFilterSet,
    StaffSerializer,
    StockMovementSerializer,
)
from workspaces.catalogue.services import (
    ProductNotFound,
    ServiceCategoryInUse,
    ServiceCategoryLimitReached,
    ServiceCategoryNotFound,
    ServiceLimitReached,
    ServiceNotFound,
    StaffLimitReached,
    StaffNotFound,
    change_product,
    change_service,
    change_staff,
    create_category,
    create_product,
    create_service,
    create_staff,
    delete_category,
    delete_product,
    delete_service,
    delete_staff,
    rename_category,
)
from workspaces.subaccounts.api.surface import WorkspaceViewSet

NO_CATEGORY = {404: ServiceCategoryNotFound.message}
NO_CATEGORY_OR_STAFF = "No such service category, or no such staff member."
NOT_THERE = {404: "No such product, or no such service category."}


class ProductViewSet(WorkspaceViewSet):
    """What the workspace sells; a deleted product reads like one that is not there."""

    lookup_url_kwarg = "product"
    not_found = ProductNotFound

    def get_queryset(self) -> "QuerySet[Product]":
        return Product.objects.of(self.workspace).select_related("workspace", "category")

    @operation(
        operation_id="listProducts",
        summary="List the products, newest first",
        answer=page_response(ProductSerializer),
        filters=ProductFilterSet,
    )
    def list(self, request: Request) -> HttpResponse:
        rows = self.filtered(self.get_queryset())
        return self.page_of(rows.order_by("-created_at", "-id"), ProductSerializer)

    @operation(
        operation_id="createProduct",
        summary="Create a product",
        request=ProductBodySerializer,
        status=201,
        answer=object_response(ProductSerializer),
        errors=NO_CATEGORY,
        idempotent=True,
    )
    def create(self, request: Request) -> HttpResponse:
        wanted: dict[str, Any] = self.validated(ProductBodySerializer).validated_data
        product = create_product(workspace=self.workspace, now=timezone.now(), by=self.actor, **wanted)
        return self.answer(ProductSerializer(product), status=201)

    @operation(operation_id="readProduct", summary="Read a product", answer=object_response(ProductSerializer))
    def retrieve(self, request: Request, product: UUID | None) -> HttpResponse:
        return self.answer(ProductSerializer(self.get_object()))

    @operation(
        operation_id="replaceProduct",
        summary="Replace a product; what is left out goes back to its default, but the stock stays",
        request=ProductBodySerializer,
        answer=object_response(ProductSerializer),
        errors=NOT_THERE,
    )
    def update(self, request: Request, product: UUID | None) -> HttpResponse:
        found = self.get_object()
        wanted: dict[str, Any] = self.validated(ProductBodySerializer).validated_data
        return self._change(found, wanted)

    @operation(
        operation_id="updateProduct",
        summary="Change a product; what is left out stays",
        request=ProductBodySerializer,
        answer=object_response(ProductSerializer),
        errors=NOT_THERE,
    )
    def partial_update(self, request: Request, product: UUID | None) -> HttpResponse:
        found = self.get_object()
        return self._change(found, self.validated(ProductBodySerializer, partial=True).changes)

    def _change(self, product: Product, changes: dict[str, Any]) -> HttpResponse:
        changed = change_product(product=product, now=timezone.now(), by=self.actor, **changes)
        return self.answer(ProductSerializer(changed))

    @operation(
        operation_id="deleteProduct",
        summary="Delete a product; its stock movements are kept",
        answer=object_response(DeletedSerializer),
    )
    def destroy(self, request: Request, product: UUID | None) -> HttpResponse:
        delete_product(product=self.get_object(), now=timezone.now(), by=self.actor)
        return self.answer(DeletedSerializer({"deleted": True}))

    @operation(
        operation_id="listStockMovements",
        summary="List a product's stock movements, newest first",
        answer=page_response(StockMovementSerializer),
    )
    def stock_movements(self, request: Request, product: UUID | None) -> HttpResponse:
        rows = self.get_object().stock_movements.order_by("-id")
        return self.page_of(rows, StockMovementSerializer)


class ServiceCategoryViewSet(WorkspaceViewSet):
    """Headings under which services and products stand."""

    lookup_url_kwarg = "category"
    not_found = ServiceCategoryNotFound

    def get_queryset(self) -> "QuerySet[ServiceCategory]":
        return ServiceCategory.objects.of(self.workspace).select_related("workspace")

    @operation(
        operation_id="listServiceCategories",
        summary="List the service categories by name",
        answer=page_response(ServiceCategorySerializer),
        filters=ServiceCategoryFilterSet,
    )
    def list(self, request: Request) -> HttpResponse:
        rows = self.filtered(ServiceCategory.objects.of(self.workspace))
        return self.page_of(rows.order_by("name_key", "id"), ServiceCategorySerializer)

    @operation(
        operation_id="createServiceCategory",
        summary="Create a service category",
        request=ServiceCategorySerializer,
        status=201,
        answer=object_response(ServiceCategorySerializer),
        errors={403: ServiceCategoryLimitReached.message},
        idempotent=True,
    )
    def create(self, request: Request) -> HttpResponse:
        wanted: dict[str, Any] = self.validated(ServiceCategorySerializer).validated_data
        made = create_category(workspace=self.workspace, now=timezone.now(), by=self.actor, **wanted)
        return self.answer(ServiceCategorySerializer(made), status=201)

    @operation(
        operation_id="readServiceCategory",
        summary="Read a service category",
        answer=object_response(ServiceCategorySerializer),
    )
    def retrieve(self, request: Request, category: UUID | None) -> HttpResponse:
        return self.answer(ServiceCategorySerializer(self.get_object()))

    @operation(
        operation_id="updateServiceCategory",
        summary="Rename a service category",
        request=ServiceCategorySerializer,
        answer=object_response(ServiceCategorySerializer),
    )
    def partial_update(self, request: Request, category: UUID | None) -> HttpResponse:
        found = self.get_object()
        changes = self.validated(ServiceCategorySerializer, partial=True).changes
        name = changes.get("name", found.name)
        return self.answer(ServiceCategorySerializer(rename_category(category=found, name=name, by=self.actor)))

    @operation(
        operation_id="deleteServiceCategory",
        summary="Delete a service category in which nothing stands",
        answer=object_response(DeletedSerializer),
        errors={409: ServiceCategoryInUse.message},
    )
    def destroy(self, request: Request, category: UUID | None) -> HttpResponse:
        delete_category(category=self.get_object(), by=self.actor)
        return self.answer(DeletedSerializer({"deleted": True}))


class ServiceViewSet(WorkspaceViewSet):
    """What customers book; a deleted service reads like one that is not there."""

    lookup_url_kwarg = "service"
    not_found = ServiceNotFound

    def get_queryset(self) -> "QuerySet[Service]":
        return Service.objects.of(self.workspace).select_related("category", "workspace").prefetch_related("staff")

    @operation(
        operation_id="listServices",
        summary="List the services by name",
        answer=page_response(ServiceSerializer),
        filters=ServiceFilterSet,
    )
    def list(self, request: Request) -> HttpResponse:
        rows = self.filtered(Service.objects.of(self.workspace).select_related("category").prefetch_related("staff"))
        return self.page_of(rows.order_by("name_key", "id"), ServiceSerializer)

    @operation(
        operation_id="createService",
        summary="Create a service",
        request=ServiceBodySerializer,
        status=201,
        answer=object_response(ServiceSerializer),
        errors={404: NO_CATEGORY_OR_STAFF, 403: ServiceLimitReached.message},
        idempotent=True,
    )
    def create(self, request: Request) -> HttpResponse:
        wanted: dict[str, Any] = self.validated(ServiceBodySerializer).validated_data
        made = create_service(workspace=self.workspace, now=timezone.now(), by=self.actor, **wanted)
        return self.answer(ServiceSerializer(made), status=201)

    @operation(operation_id="readService", summary="Read a service", answer=object_response(ServiceSerializer))
    def retrieve(self, request: Request, service: UUID | None) -> HttpResponse:
        return self.answer(ServiceSerializer(self.get_object()))

    @operation(
        operation_id="updateService",
        summary="Change a service; what is left out stays",
        request=ServiceBodySerializer,
        answer=object_response(ServiceSerializer),
        errors={
            404: f"No such service. {NO_CATEGORY_OR_STAFF}",
            409: "Something is planned with this service, so that its kind has to stay.",
        },
    )
    def partial_update(self, request: Request, service: UUID | None) -> HttpResponse:
        found = self.get_object()
        changes = self.validated(ServiceBodySerializer, partial=True).changes
        changed = change_service(service=found, now=timezone.now(), by=self.actor, **changes)
        return self.answer(ServiceSerializer(changed))

    @operation(
        operation_id="deleteService",
        summary="Delete a service; what was done with it still names it",
        answer=object_response(DeletedSerializer),
        errors={409: "Something is planned with this service."},
    )
    def destroy(self, request: Request, service: UUID | None) -> HttpResponse:
        delete_service(service=self.get_object(), now=timezone.now(), by=self.actor)
        return self.answer(DeletedSerializer({"deleted": True}))


class StaffViewSet(WorkspaceViewSet):
    """The people who take appointments and host classes; a deleted one reads like one that is not there."""

    lookup_url_kwarg = "staff"
    not_found = StaffNotFound

    def get_queryset(self) -> "QuerySet[Staff]":
        return Staff.objects.of(self.workspace).select_related("workspace")

    @operation(
        operation_id="listStaff",
        summary="List the staff by name",
        answer=page_response(StaffSerializer),
        filters=StaffFilterSet,
    )
    def list(self, request: Request) -> HttpResponse:
        rows = self.filtered(Staff.objects.of(self.workspace))
        return self.page_of(rows.order_by("name_key", "id"), StaffSerializer)

    @operation(
        operation_id="createStaff",
        summary="Create a staff member",
        request=StaffSerializer,
        status=201,
        answer=object_response(StaffSerializer),
        errors={403: StaffLimitReached.message},
        idempotent=True,
    )
    def create(self, request: Request) -> HttpResponse:
        wanted: dict[str, Any] = self.validated(StaffSerializer).validated_data
        made = create_staff(workspace=self.workspace, now=timezone.now(), by=self.actor, **wanted)
        return self.answer(StaffSerializer(made), status=201)

    @operation(operation_id="readStaff", summary="Read a staff member", answer=object_response(StaffSerializer))
    def retrieve(self, request: Request, staff: UUID | None) -> HttpResponse:
        return self.answer(StaffSerializer(self.get_object()))

    @operation(
        operation_id="updateStaff",
        summary="Change a staff member; what is left out stays",
        request=StaffSerializer,
        answer=object_response(StaffSerializer),
    )
    def partial_update(self, request: Request, staff: UUID | None) -> HttpResponse:
        found = self.get_object()
        changes = self.validated(StaffSerializer, partial=True).changes
        changed = change_staff(staff=found, now=timezone.now(), by=self.actor, **changes)
        return self.answer(StaffSerializer(changed))

    @operation(
        operation_id="deleteStaff",
        summary="Delete a staff member; what is past still names them",
        answer=object_response(DeletedSerializer),
        errors={409: "Something is planned with this person."},
    )
    def destroy(self, request: Request, staff: UUID | None) -> HttpResponse:
        delete_staff(staff=self.get_object(), now=timezone.now(), by=self.actor)
        return self.answer(DeletedSerializer({"deleted": True}))


urlpatterns = [
    path("staff", StaffViewSet.as_view({"get": "list", "post": "create"}), name="staff-list"),
    path(
        "staff/<id:staff>",
        StaffViewSet.as_view({"get": "retrieve", "patch": "partial_update", "delete": "destroy"}),
        name="staff-detail",
    ),
    path("products", ProductViewSet.as_view({"get": "list", "post": "create"}), name="products-list"),
    path(
        "service-categories",
        ServiceCategoryViewSet.as_view({"get": "list", "post": "create"}),
        name="service-categories-list",
    ),
    path("services", ServiceViewSet.as_view({"get": "list", "post": "create"}), name="services-list"),
    path(
        "products/<id:product>",
        ProductViewSet.as_view({"get": "retrieve", "put": "update", "patch": "partial_update", "delete": "destroy"}),
        name="products-detail",
    ),
    path(
        "service-categories/<id:category>",
        ServiceCategoryViewSet.as_view({"get": "retrieve", "patch": "partial_update", "delete": "destroy"}),
        name="service-categories-detail",
    ),
    path(
        "services/<id:service>",
        ServiceViewSet.as_view({"get": "retrieve", "patch": "partial_update", "delete": "destroy"}),
        name="services-detail",
    ),
    path(
        "products/<id:product>/stock-movements",
        ProductViewSet.as_view({"get": "stock_movements"}),
        name="products-stock-movements",
    ),
]
