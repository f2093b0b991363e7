"""The form field of prices and other numbers with decimals, as people of the page's language write them."""

from decimal import Decimal
from typing import Any, Final

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy

from config.formats import format_typed, read_typed

EXAMPLE: Final = Decimal("1234.5")
EXAMPLE_DECIMALS: Final = 2


class LocalDecimalField(forms.DecimalField):
    """A number with decimals. It shows `60,00` in German, accepts `60.00` too, and refuses what could be two numbers.

    What was typed is shown again after an error. It is no number input: browsers show those in a language of their own.
    """

    widget = forms.TextInput
    default_error_messages = {
        "invalid": gettext_lazy("Enter a number such as %(example)s, without separating thousands.")
    }

    def widget_attrs(self, widget: forms.Widget) -> dict[str, Any]:
        attrs = {**super().widget_attrs(widget), "autocomplete": "off"}
        # The keyboard of a phone for decimals may have no minus sign.
        is_never_negative = isinstance(self.min_value, int | Decimal) and self.min_value >= 0
        return {**attrs, "inputmode": "decimal"} if is_never_negative else attrs

    def prepare_value(self, value: Any) -> Any:
        """Write a number for the field, without decimals if the field takes none, as it may be sent back."""
        if not isinstance(value, int | float | Decimal):
            return value
        return format_typed(value, 0 if self.decimal_places == 0 and value == int(value) else None)

    def to_python(self, value: Any) -> Any:
        text = "" if value is None else str(value)
        if not text.strip():
            return None
        number = read_typed(text)
        if number is None:
            decimals = EXAMPLE_DECIMALS if self.decimal_places is None else min(self.decimal_places, EXAMPLE_DECIMALS)
            example = format_typed(EXAMPLE, decimals)
            raise ValidationError(self.error_messages["invalid"], code="invalid", params={"example": example})
        return number

    def run_validators(self, value: Any) -> None:
        """Write the limit that a number has passed in the page's language, too."""
        try:
            super().run_validators(value)
        except ValidationError as refused:
            for error in refused.error_list:
                limit = (error.params or {}).get("limit_value")
                if isinstance(limit, Decimal | int):
                    error.params = {**(error.params or {}), "limit_value": format_typed(Decimal(limit).normalize())}
            raise
