"""Form fields, with the same rules for texts as the API's fields."""

from collections.abc import Iterable
from datetime import UTC
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.forms.utils import flatatt
from django.utils import timezone
from django.utils.html import conditional_escape, format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from config.api.text_fields import CONTROLS, CONTROLS_BUT_LINES, has_unsafe_bidi, has_visible_text, is_valid_email

LONGEST_NAME = 120
SELECTED = " selected"


class LongSelect(forms.Select):
    """A select of several hundred choices, written directly, as Django renders two templates for each choice."""

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        built = self.build_attrs(self.attrs, {**(attrs or {}), "name": name})
        return format_html("<select{}>{}</select>", flatatt(built), self.written(str(value or "")))

    def written(self, chosen: str) -> SafeString:
        return options_of(self.choices, chosen)


def options_of(choices: Iterable[tuple[Any, Any]], chosen: str) -> SafeString:
    """Write the options of a select, and its groups, each a label with its own choices."""
    # Escapes as `format_html` would, which takes six times as long for so many options.
    return SafeString("".join(_option_or_group(value, label, chosen) for value, label in choices))


def _option_or_group(value: Any, label: Any, chosen: str) -> str:
    if isinstance(label, list | tuple):
        return f'<optgroup label="{conditional_escape(value)}">{options_of(label, chosen)}</optgroup>'
    selected = SELECTED if str(value) == chosen else ""
    return f'<option value="{conditional_escape(value)}"{selected}>{conditional_escape(label)}</option>'


class WallClockField(forms.DateTimeField):
    """A date and time by a clock that the form knows, not by the viewer's; the form must set that clock's time zone."""

    widget = forms.DateTimeInput({"type": "datetime-local"}, format="%Y-%m-%dT%H:%M")

    def to_python(self, value: Any) -> Any:
        with timezone.override(UTC):
            return super().to_python(value)


class LineField(forms.CharField):
    """One line of visible text."""

    forbidden = CONTROLS

    def to_python(self, value: Any) -> str:
        text = super().to_python(value) or ""
        return text if has_visible_text(text) else ""

    def validate(self, value: str) -> None:
        super().validate(value)
        if self.forbidden.search(value):
            raise ValidationError(_("Control characters are not allowed."), code="control")
        if has_unsafe_bidi(value):
            raise ValidationError(
                _("Characters that override the direction of text are not allowed."), code="direction"
            )


class MultilineField(LineField):
    """Several lines of text; CR LF, which browsers send, becomes LF."""

    widget = forms.Textarea
    forbidden = CONTROLS_BUT_LINES

    def to_python(self, value: Any) -> str:
        return super().to_python(value.replace("\r\n", "\n") if isinstance(value, str) else value)


class NameField(LineField):
    """The name of an object, up to 120 characters."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"max_length": LONGEST_NAME, "label": _("Name"), **options})


class EmailField(forms.EmailField):
    """An e-mail address in lower case, as users have it."""

    def __init__(self, **options: Any) -> None:
        widget = forms.EmailInput(attrs={"autocapitalize": "none", "spellcheck": "false"})
        super().__init__(**{"max_length": 254, "label": _("E-mail"), "widget": widget, **options})

    def to_python(self, value: Any) -> str:
        return (super().to_python(value) or "").lower()

    def validate(self, value: str) -> None:
        super().validate(value)
        if value and not is_valid_email(value):
            raise ValidationError(self.error_messages.get("invalid", _("Enter a valid email address.")), code="invalid")
