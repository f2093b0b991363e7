"""Forms that several pages use, and the way from a service's refusal to a form's errors."""

from django import forms
from django.utils.translation import gettext_lazy as _

from agency.pages.forms.fields import MultilineField
from agency.pages.locale import in_page_language
from config.errors import DomainError, InvalidInput


class Confirmation(forms.Form):
    """A question that a person answers with its button alone."""


class ReasonForm(forms.Form):
    reason = MultilineField(
        label=_("Reason"),
        required=False,
        max_length=500,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_("Kept in the activity log. Your customer does not see it."),
    )


def add_refusal(form: forms.BaseForm, error: DomainError) -> None:
    """Put a refusal's messages beside the fields that they name, else above the form."""
    messages = error.errors if isinstance(error, InvalidInput) else {"": [error.message]}
    for path, sentences in messages.items():
        field = path.replace(".", "_")
        for sentence in sentences:
            form.add_error(field if field in form.fields else None, in_page_language(sentence))
