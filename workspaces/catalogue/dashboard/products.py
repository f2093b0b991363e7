"""Pages about products: the list, one product, its stock."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.pages.pagination import paginate, with_id
from agency.pages.tables import Column, Filter, ListPage, Table
from config.api.requests import NothingMatches, QueryParameters
from workspaces.catalogue.dashboard.forms import ConfirmView, Link, ObjectFormView, ProductForm, StockForm
from workspaces.catalogue.models import Product, ServiceCategory
from workspaces.catalogue.serializers import ProductFilterSet
from workspaces.catalogue.services import ProductNotFound, change_product, change_stock, create_product, delete_product
from workspaces.subaccounts.dashboard.base import DashboardForm, DashboardView

ACTIVE = (("true", gettext_lazy("Active")), ("false", gettext_lazy("Not active")))
LIST, ONE, STOCK = "app:products", "app:product", "app:product-stock"


class Products(ListPage, DashboardView):
    """Lists all products, newest first, or those that match the filters."""

    nav = LIST
    table = Table(
        caption=gettext_lazy("Products"),
        columns=(
            Column(name="name", label=gettext_lazy("Name"), order=("name_key", "id")),
            Column(name="price", label=gettext_lazy("Price")),
            Column(name="stock", label=gettext_lazy("Stock")),
            Column(name="state", label=gettext_lazy("State")),
        ),
        filters=(
            Filter(name="search", label=gettext_lazy("Search"), placeholder=gettext_lazy("Name")),
            Filter(name="active", label=gettext_lazy("State"), is_choice=True, choices=ACTIVE),
            Filter(name="category", label=gettext_lazy("Category"), is_choice=True),
        ),
    )

    def get(self, request: HttpRequest) -> HttpResponse:
        categories = ServiceCategory.objects.of(self.workspace).by_name()
        state = self.read_table({"category": [(str(one.uuid), one.name) for one in categories]})
        rows: QuerySet[Product] = Product.objects.of(self.workspace).select_related("category").newest_first()
        try:
            rows = ProductFilterSet.apply(QueryParameters.of(request), rows)
        except NothingMatches:
            rows = rows.none()
        state.is_filtered = ProductFilterSet.is_sent(QueryParameters.of(request))
        return self.list_page("catalogue/products.html", state.fetch(rows))


class ProductNew(ObjectFormView[ProductForm]):
    nav = LIST
    creates = True

    def heading(self) -> str:
        return _("New product")

    def submit(self) -> str:
        return _("Add product")

    def crumbs(self) -> list[Link]:
        return [(_("Products"), reverse(LIST))]

    def make_form(self, data: Mapping[str, object] | None = None) -> ProductForm:
        return ProductForm(data, workspace=self.workspace)

    def save(self, form: ProductForm) -> HttpResponse:
        product = create_product(workspace=self.workspace, now=timezone.now(), by=self.by, **form.cleaned_data)
        return self.done(_("%(name)s was added.") % {"name": product.name}, LIST)


class ProductDetail(DashboardView):
    """A page about one product of the workspace. Malformed, unknown and foreign ids get the same answer."""

    nav = LIST
    form_page = ONE
    product: Product

    def find(self, **ids: UUID | None) -> None:
        found = with_id(Product.objects.of(self.workspace).select_related("category"), ids["uuid"])
        if found is None:
            raise ProductNotFound
        found.workspace = self.workspace
        self.product = found

    def crumbs(self) -> list[Link]:
        return [(_("Products"), reverse(LIST)), (self.product.name, reverse(ONE, args=[self.product.uuid]))]


class ProductPage(ProductDetail, ObjectFormView[ProductForm]):
    """The form with a product's fields. The stock has a separate page."""

    def heading(self) -> str:
        return self.product.name

    def submit(self) -> str:
        return _("Save")

    def crumbs(self) -> list[Link]:
        return [(_("Products"), reverse(LIST))]

    def links(self) -> list[Link]:
        own = [self.product.uuid]
        return [(_("Stock"), reverse(STOCK, args=own)), (_("Delete"), reverse("app:product-delete", args=own))]

    def make_form(self, data: Mapping[str, object] | None = None) -> ProductForm:
        return ProductForm(data, workspace=self.workspace, product=self.product)

    def save(self, form: ProductForm) -> HttpResponse:
        changed = change_product(product=self.product, now=timezone.now(), by=self.by, **form.cleaned_data)
        return self.done(_("%(name)s was saved.") % {"name": changed.name}, ONE, changed.uuid)


class ProductStock(ProductDetail, DashboardForm[StockForm]):
    """The movements of a product's stock, and a form that changes the stock."""

    template_name = "catalogue/stock.html"
    form_page = STOCK
    creates = True

    def make_form(self, data: Mapping[str, object] | None = None) -> StockForm:
        return StockForm(data)

    def context(self) -> dict[str, object]:
        rows, pages = paginate(self.request, self.product.stock_movements.order_by("-id"))
        return {"product": self.product, "rows": rows, "pages": pages}

    def save(self, form: StockForm) -> HttpResponse:
        at: dict[str, Any] = {"product": self.product, "now": timezone.now(), "by": self.by}
        if form.is_count:
            product = change_product(stock_quantity=form.cleaned_data["quantity"], **at)
        else:
            product, _movement = change_stock(by_quantity=form.change, reason=form.cleaned_data["reason"], **at)
        message = _("%(name)s: %(level)s in stock now.") % {"name": product.name, "level": f"{product.stock_level:,}"}
        return self.done(message, STOCK, product.uuid)


class ProductDelete(ProductDetail, ConfirmView):
    def heading(self) -> str:
        return _("Delete %(name)s?") % {"name": self.product.name}

    def submit(self) -> str:
        return _("Delete product")

    def text(self) -> str:
        return _("It is no longer offered. This cannot be undone.")

    def save(self, form: object) -> HttpResponse:
        delete_product(product=self.product, now=timezone.now(), by=self.by)
        return self.done(_("%(name)s was deleted.") % {"name": self.product.name}, LIST)
