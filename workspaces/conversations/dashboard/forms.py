"""The form of saved replies."""

from django import forms
from django.utils.translation import gettext_lazy as _

from agency.pages.forms import MultilineField, NameField
from workspaces.conversations.models.saved_replies import LONGEST_NAME, LONGEST_REPLY
from workspaces.conversations.services.team_inbox.saved_replies import VARIABLES


class SavedReplyForm(forms.Form):
    name = NameField(max_length=LONGEST_NAME, help_text=_("By this you find it: type / and a part of the name."))
    text = MultilineField(
        label=_("Text"),
        max_length=LONGEST_REPLY,
        widget=forms.Textarea({"rows": 6}),
        help_text=_("%(names)s are filled in for whoever you write to.")
        % {"names": ", ".join(f"{{{{{name}}}}}" for name in VARIABLES)},
    )
