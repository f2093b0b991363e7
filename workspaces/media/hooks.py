"""What media add elsewhere: labels of the activity log."""

from django.utils.translation import gettext_lazy as _

from agency.pages.registry import label_actions

label_actions({"media.removed": _("File removed")})
