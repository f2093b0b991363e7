"""The form of an invoice's draft, whose lines are added and removed without script, and the form of a credit note."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Final, NamedTuple, Self

from django import forms
from django.utils.functional import cached_property
from django.utils.translation import gettext as _

from agency.pages.forms import LineField, LocalDecimalField, LongSelect, MultilineField
from config.api.requests import is_storable, parse_uuid
from config.db import like_pattern, name_key
from config.formats import format_percent, format_typed, read_typed
from workspaces.catalogue.models import PRICE_DIGITS, Product
from workspaces.contacts.models import Contact
from workspaces.finance.models import InvoiceLine, TaxRate
from workspaces.finance.models.invoices import LONGEST_DESCRIPTION, LONGEST_TEXT, QUANTITY_DECIMALS, QUANTITY_DIGITS
from workspaces.finance.services.amounts import (
    MOST_LINES,
    NO_TAX,
    AmountRefused,
    Rate,
    Totals,
    line_amount,
    to_minor,
    totals_of,
)
from workspaces.finance.services.invoices import LineInput
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services.money import decimals_of

MOST_FOUND: Final = 10
# Larger numbers are refused when the form is sent; they add up to nothing before.
LARGEST_TYPED: Final = Decimal(10) ** 12
LONGEST_SEARCH: Final = 100
HEAD: Final = ("contact", "due_on", "supplied_on", "note", "reverse_charge", "find_contact", "find_product")
PARTS: Final = ("description", "quantity", "unit_price", "tax_rate", "product")
EMPTY_LINE: Final = {"quantity": "1"}
# The names of the buttons that only show the form again, each with what was typed.
UPDATE, ADD, REMOVE, ADD_PRODUCT, FIND = "update", "add", "remove-", "product-", "find"


def line_field(number: int, part: str) -> str:
    """Return the name of a field of a line."""
    return f"line-{number}-{part}"


@dataclass(slots=True)
class TypedInvoice:
    """What stands in the form as text: the fields above the lines, and the lines."""

    head: dict[str, str] = field(default_factory=dict)
    lines: list[dict[str, str]] = field(default_factory=list)

    @classmethod
    def sent(cls, data: Mapping[str, str]) -> Self:
        """Read what a form sent. Lines are numbered from 0 without a gap; at most 200 are read."""
        lines: list[dict[str, str]] = []
        while len(lines) < MOST_LINES and line_field(len(lines), "description") in data:
            number = len(lines)
            lines.append({part: data.get(line_field(number, part), "") for part in PARTS})
        return cls({name: data.get(name, "") for name in HEAD}, lines)

    @property
    def values(self) -> dict[str, str]:
        """The texts by the names of the form's fields."""
        lines = {
            line_field(number, part): text for number, line in enumerate(self.lines) for part, text in line.items()
        }
        return {**self.head, **lines}

    def apply(self, button: str, workspace: Workspace) -> None:
        """Add or remove a line, as the button says that was pressed."""
        if button == ADD:
            self._add(EMPTY_LINE)
        elif button.startswith(REMOVE):
            number = button.removeprefix(REMOVE)
            if number.isdecimal() and int(number) < len(self.lines):
                del self.lines[int(number)]
        elif button.startswith(ADD_PRODUCT):
            uuid = parse_uuid(button.removeprefix(ADD_PRODUCT))
            product = Product.objects.of(workspace).filter(uuid=uuid).first() if uuid else None
            if product is not None:
                self._add(line_of_product(product, decimals_of(workspace.currency)))

    def _add(self, line: Mapping[str, str]) -> None:
        """Put a line at the end. A product takes the place of a last line that is still empty."""
        if self.lines and is_filled(line) and not is_filled(self.lines[-1]):
            self.lines.pop()
        if len(self.lines) < MOST_LINES:
            self.lines.append({**line})


def is_filled(line: Mapping[str, str]) -> bool:
    """Say whether something was typed into a line. The quantity 1 is there from the beginning."""
    return any(line.get(part, "").strip() for part in PARTS if part != "quantity")


def line_of_product(product: Product, decimals: int) -> dict[str, str]:
    """Return the line that sells one piece of a product."""
    return {
        "description": product.name,
        "quantity": "1",
        "unit_price": format_typed(product.price, decimals),
        "product": str(product.uuid),
    }


def search_contacts(workspace: Workspace, search: str) -> list[Contact]:
    """Find a few contacts, the newest first, by name, phone number or e-mail."""
    search = search.strip()[:LONGEST_SEARCH]
    if not search or not is_storable(search):
        return []
    rows = Contact.objects.of(workspace).filter(search_key__like=like_pattern(name_key(search)))
    return list(rows.newest_first()[:MOST_FOUND])


def search_products(workspace: Workspace, search: str) -> list[Product]:
    """Find a few products by name."""
    search = search.strip()[:LONGEST_SEARCH]
    if not search or not is_storable(search):
        return []
    return list(
        Product.objects.of(workspace).filter(active=True).matching(search).order_by("name_key", "id")[:MOST_FOUND]
    )


class LineFields(NamedTuple):
    """The fields of one line, for the template; `amount` is what it costs, in minor units, once it is known."""

    number: int
    fields: list[forms.BoundField]
    product: forms.BoundField
    amount: int | None


class InvoiceForm(forms.Form):
    """A draft: its contact, dates, lines and note. With `bound` the texts are checked, else they are only shown."""

    def __init__(self, typed: TypedInvoice, *, workspace: Workspace, rates: Sequence[TaxRate], bound: bool) -> None:
        super().__init__(data=typed.values if bound else None, initial=None if bound else typed.values)
        self.typed, self.workspace = typed, workspace
        self.rates = {str(rate.uuid): rate for rate in rates}
        self.contacts = self._contacts()
        if not bound and not typed.head.get("contact") and len(self.contacts) == 1:
            self.initial["contact"] = next(iter(self.contacts))
        self.fields |= self._head_fields()
        for number in range(len(typed.lines)):
            self.fields |= self._line_fields(number)

    def goes_on_with_contact(self) -> bool:
        """Put the focus on the contacts, if any was found and no product is searched for."""
        goes_on = bool(self.contacts) and not self.typed.head.get("find_product", "")
        if goes_on:
            self.fields["contact"].widget.attrs["autofocus"] = True
        return goes_on

    def _contacts(self) -> dict[str, Contact]:
        """Return the contact that was chosen, and those that the search finds, by their uuids."""
        found: dict[str, Contact] = {}
        chosen = parse_uuid(self.typed.head.get("contact", ""))
        if chosen:
            rows = Contact.objects.of(self.workspace).filter(uuid=chosen)
            found |= {str(contact.uuid): contact for contact in rows}
        search = self.typed.head.get("find_contact", "")
        return found | {str(contact.uuid): contact for contact in search_contacts(self.workspace, search)}

    def _head_fields(self) -> dict[str, forms.Field]:
        day = forms.DateInput({"type": "date"}, format="%Y-%m-%d")
        return {
            "find_contact": LineField(
                label=_("Find a contact"), required=False, max_length=LONGEST_SEARCH, widget=forms.TextInput
            ),
            "contact": forms.ChoiceField(
                label=_("Contact"),
                choices=[(uuid, contact_label(contact)) for uuid, contact in self.contacts.items()],
                widget=forms.RadioSelect,
                error_messages={"required": _("Find and choose the contact who gets the invoice.")},
            ),
            "due_on": forms.DateField(
                label=_("Due on"),
                required=False,
                widget=day,
                help_text=_("Leave empty to use the days to pay from your settings."),
            ),
            "supplied_on": forms.DateField(label=_("Date of supply"), required=False, widget=day),
            "note": MultilineField(
                label=_("Note on the invoice"),
                required=False,
                max_length=LONGEST_TEXT,
                widget=forms.Textarea({"rows": 3}),
            ),
            "reverse_charge": forms.BooleanField(
                label=_("Reverse charge"),
                required=False,
                help_text=_("The customer owes the tax. The contact needs the detail vat_id."),
            ),
            "find_product": LineField(label=_("Find a product"), required=False, max_length=LONGEST_SEARCH),
        }

    def _line_fields(self, number: int) -> dict[str, forms.Field]:
        required = is_filled(self.typed.lines[number])
        decimals = decimals_of(self.workspace.currency)
        rates = [("", _("No tax")), *((uuid, rate_label(rate)) for uuid, rate in self.rates.items())]
        return {
            line_field(number, "description"): LineField(
                label=_("Description"), required=required, max_length=LONGEST_DESCRIPTION
            ),
            line_field(number, "quantity"): LocalDecimalField(
                label=_("Quantity"),
                required=required,
                min_value=Decimal(1).scaleb(-QUANTITY_DECIMALS),
                max_digits=QUANTITY_DIGITS,
                decimal_places=QUANTITY_DECIMALS,
            ),
            line_field(number, "unit_price"): LocalDecimalField(
                label=_("Price in %(currency)s") % {"currency": self.workspace.currency},
                required=required,
                max_digits=PRICE_DIGITS,
                decimal_places=decimals,
            ),
            line_field(number, "tax_rate"): forms.ChoiceField(
                label=_("Tax"), required=False, choices=rates, widget=LongSelect
            ),
            line_field(number, "product"): forms.CharField(required=False, widget=forms.HiddenInput),
        }

    def clean(self) -> dict[str, object]:
        if not any(map(is_filled, self.typed.lines)):
            self.add_error(None, _("Add a line with a description and a price."))
        return super().clean() or self.cleaned_data

    @property
    def chosen_contact(self) -> Contact | None:
        return self.contacts.get(self.cleaned_data.get("contact", ""))

    @property
    def is_full(self) -> bool:
        return len(self.typed.lines) >= MOST_LINES

    def line_inputs(self) -> list[LineInput]:
        """Return the filled lines for the service."""
        filled = [number for number, line in enumerate(self.typed.lines) if is_filled(line)]
        products = self._products()
        return [self._line_input(number, products) for number in filled]

    def _line_input(self, number: int, products: Mapping[str, Product]) -> LineInput:
        typed = {part: self.cleaned_data[line_field(number, part)] for part in PARTS}
        return LineInput(
            description=typed["description"],
            quantity=typed["quantity"],
            unit_price=typed["unit_price"],
            tax_rate=self.rates.get(typed["tax_rate"]),
            product=products.get(typed["product"]),
        )

    def _products(self) -> dict[str, Product]:
        """Return the products of the lines, in one statement. A product that is not the workspace's is left out."""
        wanted = {uuid for line in self.typed.lines if (uuid := parse_uuid(line.get("product", "")))}
        if not wanted:
            return {}
        return {str(one.uuid): one for one in Product.objects.of(self.workspace).filter(uuid__in=wanted)}

    @cached_property
    def amounts(self) -> dict[int, int]:
        """What each line costs in minor units, of the lines whose numbers can be read."""
        found = {number: self._amount(line) for number, line in enumerate(self.typed.lines)}
        return {number: amount for number, amount in found.items() if amount is not None}

    def _amount(self, line: Mapping[str, str]) -> int | None:
        quantity, price = read_typed(line.get("quantity", "")), read_typed(line.get("unit_price", ""))
        if quantity is None or price is None or not (0 < quantity < LARGEST_TYPED and abs(price) < LARGEST_TYPED):
            return None
        try:
            return line_amount(quantity, to_minor(price, decimals_of(self.workspace.currency)))
        except AmountRefused:
            return None

    @cached_property
    def totals(self) -> Totals | None:
        """What the lines add up to; None if no line can be read, or they are less than zero."""
        lines = ((self._rate_of(self.typed.lines[number]), amount) for number, amount in self.amounts.items())
        try:
            return totals_of(lines) if self.amounts else None
        except AmountRefused:
            return None

    def _rate_of(self, line: Mapping[str, str]) -> Rate:
        rate = self.rates.get(line.get("tax_rate", ""))
        return Rate(rate.name, rate.percent, rate.inclusive) if rate else NO_TAX

    def shown_lines(self) -> Iterable[LineFields]:
        """Yield each line's fields for the template."""
        for number in range(len(self.typed.lines)):
            names = [line_field(number, part) for part in PARTS]
            yield LineFields(number, [self[name] for name in names[:-1]], self[names[-1]], self.amounts.get(number))

    @property
    def head_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in ("due_on", "supplied_on", "note", "reverse_charge")]


def contact_label(contact: Contact) -> str:
    """Name a contact so that two of the same name can be told apart."""
    known = [text for text in (contact.phone, contact.email) if text and text != str(contact)]
    return " · ".join([str(contact), *known])


def rate_label(rate: TaxRate) -> str:
    """Name a rate with its percentage."""
    label = f"{rate.name} ({format_percent(rate.percent)})"
    return _("%(rate)s, in the price") % {"rate": label} if rate.inclusive else label


def typed_date(day: date | None) -> str:
    return day.isoformat() if day else ""


class CreditForm(forms.Form):
    """How much of each line of an invoice is credited, as a quantity. An empty field credits nothing of its line."""

    def __init__(self, data: Mapping[str, object] | None = None, *, lines: Sequence[InvoiceLine]) -> None:
        super().__init__(data)
        self.lines = lines
        for line in lines:
            self.fields[f"line-{line.position}"] = LocalDecimalField(
                label=line.description,
                required=False,
                min_value=Decimal(0),
                max_value=line.quantity,
                max_digits=QUANTITY_DIGITS,
                decimal_places=QUANTITY_DECIMALS,
                initial=line.quantity.normalize(),
            )

    def clean(self) -> dict[str, object]:
        cleaned = super().clean() or self.cleaned_data
        if not self.errors and not any(cleaned.values()):
            self.add_error(None, _("Enter the quantity of at least one line."))
        return cleaned

    @property
    def is_everything(self) -> bool:
        """Say whether every line is credited with its whole quantity."""
        return all(self.cleaned_data[f"line-{line.position}"] == line.quantity for line in self.lines)
