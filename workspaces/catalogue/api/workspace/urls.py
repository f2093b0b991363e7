"""The workspace API's routes for products and services."""

from django.urls import path

from workspaces.catalogue.api.workspace.views import ProductViewSet, ServiceCategoryViewSet, ServiceViewSet

urlpatterns = [
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
