"""Forms of the dashboard about products, services and their categories."""

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from django import forms
from django.utils.translation import gettext_lazy as _

from agency.pages.forms import MultilineField, NameField
from workspaces.catalogue.models import (
    LONGEST_DESCRIPTION,
    LONGEST_DURATION,
    MOST_STOCK,
    PRICE_DIGITS,
    Product,
    Service,
    ServiceCategory,
    StockMovement,
)
from workspaces.catalogue.services.services import price_decimals
from workspaces.subaccounts.models import Workspace

if TYPE_CHECKING:
    _CategoryField = forms.ModelChoiceField[ServiceCategory]
else:
    _CategoryField = forms.ModelChoiceField

Reason = StockMovement.Reason
# The reasons that a customer can choose: they increase the stock, decrease it, or set it after a count.
STOCK_INCREASES, STOCK_DECREASES, STOCK_COUNT = (
    (Reason.RECEIVED, Reason.RETURNED),
    (Reason.SOLD, Reason.LOST),
    Reason.SET,
)
REASON_CHOICES = [(reason.value, reason.label) for reason in (*STOCK_INCREASES, *STOCK_DECREASES)] + [
    (STOCK_COUNT.value, _("Counted"))
]


class CategoryField(_CategoryField):
    """One of the workspace's categories, by its uuid, or none."""

    def __init__(self, workspace: Workspace) -> None:
        rows = ServiceCategory.objects.of(workspace).by_name()
        super().__init__(rows, label=_("Category"), required=False, to_field_name="uuid", empty_label=_("None"))


class PriceField(forms.DecimalField):
    def __init__(self, currency: str, **options: Any) -> None:
        label = _("Price in %(currency)s") % {"currency": currency}
        decimals = price_decimals(currency)
        super().__init__(label=label, min_value=Decimal(0), max_digits=PRICE_DIGITS, decimal_places=decimals, **options)

    def prepare_value(self, value: Any) -> Any:
        """Show a price without decimals if the currency has none, as it may be sent back. It is stored with two."""
        if isinstance(value, Decimal) and self.decimal_places == 0 and value == int(value):
            return int(value)
        return value


class ProductForm(forms.Form):
    """The form of a product. Only a new one has a field for the stock; later its stock page changes the stock."""

    def __init__(self, *args: Any, workspace: Workspace, product: Product | None = None, **options: Any) -> None:
        if product:
            category = product.category.uuid if product.category else None
            names = ("name", "price", "description", "active", "track_stock")
            options["initial"] = {"category": category, **{name: getattr(product, name) for name in names}}
        super().__init__(*args, **options)
        description = MultilineField(
            label=_("Description"), required=False, max_length=LONGEST_DESCRIPTION, widget=forms.Textarea({"rows": 3})
        )
        self.fields |= {
            "name": NameField(),
            "price": PriceField(workspace.currency),
            "description": description,
            "category": CategoryField(workspace),
            "active": forms.BooleanField(label=_("Active"), required=False, initial=True),
            "track_stock": forms.BooleanField(label=_("Track the stock"), required=False),
        }
        if product:
            self.fields["track_stock"].help_text = _("When you take this tick away, the stock is forgotten.")
        else:
            self.fields["stock_quantity"] = forms.IntegerField(
                label=_("How many are there"), required=False, min_value=0, max_value=MOST_STOCK
            )


class StockForm(forms.Form):
    """A change of the stock: its reason and its quantity."""

    reason = forms.ChoiceField(label=_("What has happened"), choices=REASON_CHOICES)
    quantity = forms.IntegerField(
        label=_("How many"),
        min_value=0,
        max_value=MOST_STOCK,
        help_text=_("Of goods that came or went. After a count: how many are there now."),
    )

    @property
    def is_count(self) -> bool:
        return bool(self.cleaned_data["reason"] == STOCK_COUNT)

    @property
    def change(self) -> int:
        """The change of the stock, negative if goods left it."""
        quantity: int = self.cleaned_data["quantity"]
        return -quantity if self.cleaned_data["reason"] in STOCK_DECREASES else quantity


class ServiceForm(forms.Form):
    def __init__(self, *args: Any, workspace: Workspace, service: Service | None = None, **options: Any) -> None:
        if service:
            category = service.category.uuid if service.category else None
            names = ("name", "kind", "duration_minutes", "price")
            options["initial"] = {"category": category, **{name: getattr(service, name) for name in names}}
        super().__init__(*args, **options)
        self.fields |= {
            "name": NameField(),
            "kind": forms.ChoiceField(label=_("Kind"), choices=Service.Kind.choices),
            "category": CategoryField(workspace),
            "duration_minutes": forms.IntegerField(
                label=_("Duration in minutes"), required=False, min_value=1, max_value=LONGEST_DURATION
            ),
            "price": PriceField(workspace.currency, required=False),
        }


class CategoryForm(forms.Form):
    name = NameField()
