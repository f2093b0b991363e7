"""The console's forms about connecting channels."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from channelconnect.models.sessions import Platform
from channelconnect.services.settings import LONGEST_URL, MOST_RETURN_URLS
from workspaces.subaccounts.models import Channel

LONGEST_STATE = 500
NUL = "\0"


class ReturnUrlsForm(forms.Form):
    """One address on each line; empty lines are ignored."""

    return_urls = forms.CharField(
        label=_("Return URLs, one a line"),
        required=False,
        max_length=MOST_RETURN_URLS * (LONGEST_URL + 2),
        widget=forms.Textarea(attrs={"rows": 8, "spellcheck": "false", "autocapitalize": "none"}),
        help_text=_(
            "Up to 20 https addresses without query string, fragment or credentials. Browsers return to one of them, "
            "matched to the letter. Removing an address also stops connections that are under way from returning to it."
        ),
    )

    def clean_return_urls(self) -> list[str]:
        lines = [line.strip() for line in self.cleaned_data["return_urls"].splitlines()]
        urls = [line for line in lines if line]
        if len(urls) > MOST_RETURN_URLS:
            raise ValidationError(_("At most 20 return URLs are possible."))
        return urls


class StartForm(forms.Form):
    """A new connection for a sub-account."""

    platform = forms.ChoiceField(label=_("Platform"), choices=Platform.choices, widget=forms.RadioSelect)
    return_url = forms.ChoiceField(label=_("Return URL"))
    reconnect = forms.ModelChoiceField(
        label=_("Reconnect"),
        queryset=Channel.objects.none(),
        required=False,
        to_field_name="uuid",
        empty_label=_("No, connect a new channel"),
        help_text=_("The channel keeps its id; your customer must choose the same account again."),
    )
    state = forms.CharField(
        label=_("State"),
        required=False,
        max_length=LONGEST_STATE,
        strip=False,
        help_text=_("Comes back to the return URL unchanged, so that your systems know whose connection it is."),
    )

    def __init__(self, *args: Any, return_urls: Iterable[str], channels: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        addresses, reconnect = self.fields["return_url"], self.fields["reconnect"]
        assert isinstance(addresses, forms.ChoiceField)  # noqa: S101  # tells the type checker what is declared above
        assert isinstance(reconnect, forms.ModelChoiceField)  # noqa: S101  # the same
        addresses.choices = [(url, url) for url in return_urls]
        reconnect.queryset = channels
