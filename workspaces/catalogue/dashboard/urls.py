"""Routes of the dashboard's pages about products, services and staff, below `/app/` and in the namespace `app`."""

from django.urls import path

from workspaces.catalogue.dashboard import products, services, staff

urlpatterns = [
    path("products", products.Products.as_view(), name="products"),
    path("products/new", products.ProductNew.as_view(), name="product-new"),
    path("products/<id:uuid>", products.ProductPage.as_view(), name="product"),
    path("products/<id:uuid>/stock", products.ProductStock.as_view(), name="product-stock"),
    path("products/<id:uuid>/delete", products.ProductDelete.as_view(), name="product-delete"),
    path("services", services.Services.as_view(), name="services"),
    path("services/new", services.ServiceNew.as_view(), name="service-new"),
    path("services/<id:uuid>", services.ServicePage.as_view(), name="service"),
    path("services/<id:uuid>/delete", services.ServiceDelete.as_view(), name="service-delete"),
    path("service-categories", services.ServiceCategories.as_view(), name="service-categories"),
    path("service-categories/new", services.ServiceCategoryNew.as_view(), name="service-category-new"),
    path("service-categories/<id:uuid>", services.ServiceCategoryPage.as_view(), name="service-category"),
    path(
        "service-categories/<id:uuid>/delete", services.ServiceCategoryDelete.as_view(), name="service-category-delete"
    ),
    path("staff", staff.StaffList.as_view(), name="staff"),
    path("staff/new", staff.StaffNew.as_view(), name="staff-new"),
    path("staff/<id:uuid>", staff.StaffPage.as_view(), name="staff-member"),
    path("staff/<id:uuid>/delete", staff.StaffDelete.as_view(), name="staff-delete"),
]
