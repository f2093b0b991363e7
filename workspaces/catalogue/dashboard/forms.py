"""Forms of the dashboard about products, services and their categories."""

from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from django import forms
from django.utils.translation import gettext_lazy as _

from agency.pages.forms import ConfirmationForm, LocalDecimalField, MultilineField, NameField
from agency.pages.registry import StrOrPromise
from agency.pages.views import FormOf
from workspaces.catalogue.models import (
    LONGEST_BUFFER,
    LONGEST_DESCRIPTION,
    LONGEST_DURATION,
    LONGEST_HORIZON,
    LONGEST_NOTICE,
    LONGEST_STEP,
    MOST_STOCK,
    PRICE_DIGITS,
    SHORTEST_STEP,
    Product,
    Service,
    ServiceCategory,
    Staff,
    StockMovement,
)
from workspaces.catalogue.services.appointment_settings import SETTINGS, default_settings
from workspaces.catalogue.services.services import price_decimals
from workspaces.subaccounts.dashboard.base import DashboardForm
from workspaces.subaccounts.models import Workspace

if TYPE_CHECKING:
    _CategoryField = forms.ModelChoiceField[ServiceCategory]
    _StaffField = forms.ModelMultipleChoiceField[Staff]
else:
    _CategoryField = forms.ModelChoiceField
    _StaffField = forms.ModelMultipleChoiceField

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


NUMBERS: Final = {
    "buffer_before": (_("Minutes free before"), _("To get ready."), 0, LONGEST_BUFFER),
    "buffer_after": (_("Minutes free after"), _("To clear up."), 0, LONGEST_BUFFER),
    "notice_minutes": (
        _("Notice in minutes"),
        _("How long before the start an appointment can still be booked. A day has 1440 minutes."),
        0,
        LONGEST_NOTICE,
    ),
    "horizon_days": (_("Days ahead"), _("How many days ahead appointments can be booked."), 1, LONGEST_HORIZON),
    "step_minutes": (
        _("Minutes between starts"),
        _("15 offers 9:00, 9:15, 9:30 and so on."),
        SHORTEST_STEP,
        LONGEST_STEP,
    ),
}


class StaffField(_StaffField):
    """The people who provide a service, as check boxes by name."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(
            Staff.objects.of(workspace).by_name(),
            label=_("Who provides it"),
            required=False,
            to_field_name="uuid",
            widget=forms.CheckboxSelectMultiple,
        )


class CategoryField(_CategoryField):
    """One of the workspace's categories, by its uuid, or none."""

    def __init__(self, workspace: Workspace) -> None:
        rows = ServiceCategory.objects.of(workspace).by_name()
        super().__init__(rows, label=_("Category"), required=False, to_field_name="uuid", empty_label=_("None"))


class PriceField(LocalDecimalField):
    def __init__(self, currency: str, **options: Any) -> None:
        usual = {"label": _("Price in %(currency)s") % {"currency": currency}, "min_value": Decimal(0)}
        decimals = price_decimals(currency)
        super().__init__(**{"max_digits": PRICE_DIGITS, "decimal_places": decimals, **usual, **options})


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
            self.fields["track_stock"].help_text = _("If you turn this off, the current stock is deleted.")
        else:
            self.fields["stock_quantity"] = forms.IntegerField(
                label=_("Number in stock"), required=False, min_value=0, max_value=MOST_STOCK
            )


class StockForm(forms.Form):
    """A change of the stock: its reason and its quantity."""

    reason = forms.ChoiceField(label=_("What has happened"), choices=REASON_CHOICES)
    quantity = forms.IntegerField(
        label=_("How many"),
        min_value=0,
        max_value=MOST_STOCK,
        help_text=_("How many came in or went out. After a count: how many you have now."),
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
    """The form of a service. The fields of `for_appointments` count only for services of the kind appointment."""

    def __init__(self, *args: Any, workspace: Workspace, service: Service | None = None, **options: Any) -> None:
        if service:
            names = ("name", "kind", "duration_minutes", "price", *SETTINGS)
            options["initial"] = {name: getattr(service, name) for name in names}
            options["initial"] |= {"category": service.category_uuid, "staff": service.staff_uuids}
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
        self._general = list(self.fields)
        self.fields |= {"staff": StaffField(workspace), **_numbers(), **_offer(workspace)}

    def general(self) -> list[forms.BoundField]:
        """Give the fields that count for every service."""
        return [self[name] for name in self._general]

    def for_appointments(self) -> list[forms.BoundField]:
        """Give the numbers that count for appointments."""
        return [self[name] for name in (*NUMBERS, "deposit")]

    def values(self) -> dict[str, Any]:
        """Give the values for the service: of a class none of an appointment's settings."""
        given = dict(self.cleaned_data)
        if given["kind"] != Service.Kind.APPOINTMENT:
            return {name: given[name] for name in self._general}
        given["deposit"] = given["deposit"] or None
        return {name: value for name, value in given.items() if value is not None or name not in NUMBERS}


def _numbers() -> dict[str, forms.Field]:
    """Give the settings of appointments that are numbers. An empty one stays as it is."""
    usual = default_settings()
    return {
        name: forms.IntegerField(
            label=label, help_text=help_text, required=False, min_value=least, max_value=most, initial=usual[name]
        )
        for name, (label, help_text, least, most) in NUMBERS.items()
    }


def _offer(workspace: Workspace) -> dict[str, forms.Field]:
    return {
        "deposit": PriceField(
            workspace.currency,
            label=_("Deposit in %(currency)s") % {"currency": workspace.currency},
            help_text=_("Visitors of the booking page pay this amount in advance."),
            required=False,
        ),
        "bookable": forms.BooleanField(
            label=_("Offered on the booking page"), required=False, initial=default_settings()["bookable"]
        ),
    }


class CategoryForm(forms.Form):
    name = NameField()


# Pages of forms ------------------------------------------------------------------------------------


Link = tuple[StrOrPromise, str]


class ObjectFormView(DashboardForm[FormOf]):
    """A page with one form. `crumbs` lead back to the pages above it, `links` to related pages."""

    template_name = "catalogue/form.html"

    def heading(self) -> str:
        """Give the page's heading. Each page overrides this."""
        raise NotImplementedError

    def submit(self) -> str:
        """Give the label of the button. Each page overrides this."""
        raise NotImplementedError

    def crumbs(self) -> list[Link]:
        return []

    def links(self) -> list[Link]:
        return []

    def context(self) -> dict[str, object]:
        return {"heading": self.heading(), "submit": self.submit(), "crumbs": self.crumbs(), "links": self.links()}


class ConfirmView(ObjectFormView[ConfirmationForm]):
    """A page that asks for confirmation before something is deleted. `text` explains the consequences."""

    def text(self) -> str:
        return ""

    def make_form(self, data: Mapping[str, object] | None = None) -> ConfirmationForm:
        return ConfirmationForm(data)

    def context(self) -> dict[str, object]:
        return {**super().context(), "text": self.text(), "danger": True}
