"""Fields of forms, with the same rules for texts as the API's."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from config.api.fields.texts import CONTROLS, CONTROLS_BUT_LINES, is_seen, misleads_in_direction

LONGEST_NAME = 120


class LineField(forms.CharField):
    """One line of visible text."""

    forbidden = CONTROLS

    def to_python(self, value: Any) -> str:
        text = super().to_python(value) or ""
        return text if is_seen(text) else ""

    def validate(self, value: str) -> None:
        super().validate(value)
        if self.forbidden.search(value):
            raise ValidationError(_("Control characters are not allowed."), code="control")
        if misleads_in_direction(value):
            raise ValidationError(
                _("Characters that override the direction of text are not allowed."), code="direction"
            )


class MultilineField(LineField):
    """Several lines of text; what browsers send as CR LF becomes LF."""

    widget = forms.Textarea
    forbidden = CONTROLS_BUT_LINES

    def to_python(self, value: Any) -> str:
        return super().to_python(value.replace("\r\n", "\n") if isinstance(value, str) else value)


class NameField(LineField):
    """The name of a thing, up to 120 characters."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"max_length": LONGEST_NAME, "label": _("Name"), **options})


class EmailField(forms.EmailField):
    """An address in lower case, as people are kept."""

    def __init__(self, **options: Any) -> None:
        widget = forms.EmailInput(attrs={"autocapitalize": "none", "spellcheck": "false"})
        super().__init__(**{"max_length": 254, "label": _("E-mail"), "widget": widget, **options})

    def to_python(self, value: Any) -> str:
        return (super().to_python(value) or "").lower()
