"""Form fields and forms of all pages, the nonce in every form, and uploaded files."""

import re
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from io import BytesIO
from typing import Any, Final

from django import forms
from django.core import signing
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import InMemoryUploadedFile
from django.core.files.uploadhandler import FileUploadHandler
from django.forms.utils import flatatt
from django.http import HttpRequest
from django.utils import timezone
from django.utils.html import conditional_escape, format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from agency.pages.branding import in_page_language
from agency.services.brands import MOST_BYTES
from agency.services.page_records import FORMS_LAST
from config.api.text_fields import CONTROLS, CONTROLS_BUT_LINES, has_unsafe_bidi, has_visible_text, is_valid_email
from config.errors import DomainError, InvalidInput
from config.formats import format_typed, read_typed
from config.request_bodies import body_rules

LONGEST_NAME = 120
SELECTED = " selected"


class LongSelect(forms.Select):
    """A select of several hundred choices, written directly, as Django renders two templates for each choice."""

    def render(
        self, name: str, value: object, attrs: Mapping[str, object] | None = None, renderer: object = None
    ) -> SafeString:
        built = self.build_attrs(self.attrs, {**(attrs or {}), "name": name})
        return format_html("<select{}>{}</select>", flatatt(built), self.written(str(value or "")))

    def written(self, chosen: str) -> SafeString:
        return options_of(self.choices, chosen)


def options_of(choices: Iterable[tuple[object, object]], chosen: str) -> SafeString:
    """Write the options of a select, and its groups, each a label with its own choices."""
    # Escapes as `format_html` would, which takes six times as long for so many options.
    return SafeString("".join(_option_or_group(value, label, chosen) for value, label in choices))


def _option_or_group(value: Any, label: Any, chosen: str) -> str:
    if isinstance(label, list | tuple):
        return f'<optgroup label="{conditional_escape(value)}">{options_of(label, chosen)}</optgroup>'
    selected = SELECTED if str(value) == chosen else ""
    return f'<option value="{conditional_escape(value)}"{selected}>{conditional_escape(label)}</option>'


class NaiveDateTimeField(forms.DateTimeField):
    """A date and time by a clock that the form knows, not by the viewer's; the form must set that clock's time zone."""

    widget = forms.DateTimeInput({"type": "datetime-local"}, format="%Y-%m-%dT%H:%M")

    def to_python(self, value: str | datetime | date | None) -> datetime | None:
        with timezone.override(UTC):
            return super().to_python(value)


class LineField(forms.CharField):
    """One line of visible text."""

    forbidden = CONTROLS

    def to_python(self, value: object) -> str:
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

    def to_python(self, value: object) -> str:
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

    def to_python(self, value: object) -> str:
        return (super().to_python(value) or "").lower()

    def validate(self, value: str) -> None:
        super().validate(value)
        if value and not is_valid_email(value):
            raise ValidationError(self.error_messages.get("invalid", _("Enter a valid email address.")), code="invalid")


class ConfirmationForm(forms.Form):
    """A question that a person answers with its button alone."""


class ReasonForm(forms.Form):
    reason = MultilineField(
        label=_("Reason"),
        required=False,
        max_length=500,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_("Kept in the activity log. Your customer does not see it."),
    )


def add_domain_error(form: forms.BaseForm, error: DomainError) -> None:
    """Put a refusal's messages beside the fields that they name, else above the form."""
    messages = error.errors if isinstance(error, InvalidInput) else {"": [error.message]}
    for path, sentences in messages.items():
        field = path.replace(".", "_")
        for sentence in sentences:
            form.add_error(field if field in form.fields else None, in_page_language(sentence))


# The nonce is signed for one person. It makes a form that creates something count once. It also says for whom a form
# was shown; without it, data sent after a session's end is not kept. Only its random part may stand in an address. By
# that part the browser's Back finds the form that it sent, or the page that refused the form.

NONCE_FIELD = "nonce"
# Query parameter with the random part of a form's nonce, which says nothing and opens nothing.
NONCE_PARAMETER = "form"
SALT = "agency.pages.forms.nonce"
VALUE = re.compile(r"[A-Za-z0-9_-]{16}")


@dataclass(frozen=True, slots=True)
class FormNonce:
    """A nonce that we have signed: the person's id, and its random part."""

    user: int
    value: str


def new_nonce(user: int, value: str = "") -> str:
    """Return a nonce for a form that is shown to this person; a form that was shown before keeps its value."""
    return signing.dumps([user, value or _new_value()], salt=SALT)


def read_nonce(text: str) -> FormNonce | None:
    """Read a nonce that a form sent; None if we have not signed it or it is too old."""
    try:
        user, value = signing.loads(text, salt=SALT, max_age=FORMS_LAST)
    except signing.BadSignature:
        return None
    return FormNonce(user, value)


def nonce_of(request: HttpRequest, text: str) -> FormNonce | None:
    """Read a nonce of the signed-in person; None for another person's."""
    found = read_nonce(text)
    return found if found and found.user == request.user.pk else None


def nonce_in_query(query: Mapping[str, str]) -> str:
    """Return the value that an address names; empty if it names none, or a text that cannot be one."""
    text = query.get(NONCE_PARAMETER, "")
    return text if VALUE.fullmatch(text) else ""


def submitted_nonce(request: HttpRequest) -> str:
    """Return the value of the sent nonce; empty without a nonce, or for another person's."""
    nonce = read_nonce(request.POST.get(NONCE_FIELD, "")) if request.method == "POST" else None
    return nonce.value if nonce and nonce.user == (request.user.pk or 0) else ""


def form_nonce_value(request: HttpRequest) -> str:
    """Return the value of the form that was sent or is requested; a form without a value gets a new one."""
    known: str = getattr(request, "_value_of_form", "")
    if not known:
        known = submitted_nonce(request) or nonce_in_query(request.GET) or _new_value()
        request._value_of_form = known  # type: ignore[attr-defined]  # ours alone
    return known


def _new_value() -> str:
    return secrets.token_urlsafe(12)


class BoundedUpload(FileUploadHandler):
    """Keeps a file of up to 1 MiB, or of its page's own bound; of a larger file it keeps only the size.

    The form can then say what is wrong.
    """

    def handle_raw_input(self, input_data: object, META: Mapping[str, str], *args: object, **options: object) -> None:  # noqa: N803  # Django's
        """Look up how large a file this address accepts."""
        rule = body_rules.of(META.get("PATH_INFO", ""))
        self._most_bytes = MOST_BYTES if rule is body_rules.default else rule.most_bytes

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        super().new_file(*args, **kwargs)
        self._kept = BytesIO()

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        if start + len(raw_data) <= self._most_bytes:
            self._kept.write(raw_data)

    def file_complete(self, file_size: int) -> InMemoryUploadedFile:
        kept = self._kept if file_size <= self._most_bytes else BytesIO()
        kept.seek(0)
        return InMemoryUploadedFile(
            file=kept,
            field_name=self.field_name,
            name=self.file_name,
            content_type=self.content_type,
            size=file_size,
            charset=self.charset,
            content_type_extra=self.content_type_extra,
        )


EXAMPLE: Final = Decimal("1234.5")
EXAMPLE_DECIMALS: Final = 2


class LocalDecimalField(forms.DecimalField):
    """A number with decimals. It shows `60,00` in German, accepts `60.00` too, and refuses what could be two numbers.

    What was typed is shown again after an error. It is no number input: browsers show those in a language of their own.
    """

    widget = forms.TextInput
    default_error_messages = {"invalid": _("Enter a number such as %(example)s, without separating thousands.")}

    def widget_attrs(self, widget: forms.Widget) -> dict[str, object]:
        attrs = {**super().widget_attrs(widget), "autocomplete": "off"}
        # The keyboard of a phone for decimals may have no minus sign.
        is_never_negative = isinstance(self.min_value, int | Decimal) and self.min_value >= 0
        return {**attrs, "inputmode": "decimal"} if is_never_negative else attrs

    def prepare_value(self, value: object) -> object:
        """Write a number for the field, without decimals if the field takes none, as it may be sent back."""
        if not isinstance(value, int | float | Decimal):
            return value
        return format_typed(value, 0 if self.decimal_places == 0 and value == int(value) else None)

    def to_python(self, value: object) -> Any:
        text = "" if value is None else str(value)
        if not text.strip():
            return None
        number = read_typed(text)
        if number is None:
            decimals = EXAMPLE_DECIMALS if self.decimal_places is None else min(self.decimal_places, EXAMPLE_DECIMALS)
            example = format_typed(EXAMPLE, decimals)
            raise ValidationError(self.error_messages["invalid"], code="invalid", params={"example": example})
        return number

    def run_validators(self, value: object) -> None:
        """Write the limit that a number has passed in the page's language, too."""
        try:
            super().run_validators(value)
        except ValidationError as refused:
            for error in refused.error_list:
                limit = (error.params or {}).get("limit_value")
                if isinstance(limit, Decimal | int):
                    error.params = {**(error.params or {}), "limit_value": format_typed(Decimal(limit).normalize())}
            raise
