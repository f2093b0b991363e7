"""This app's registrations: a label of the activity log, and the limits of uploads."""

from django.utils.translation import gettext_lazy as _

from agency.pages.registry import ActivityAction, ActivityDetail, activity_actions, activity_details
from config.request_bodies import body_rules
from workspaces.media.api import UPLOAD_BODY

activity_actions.add(*ActivityAction.from_labels({"media.removed": _("File removed")}, _("Files")))
activity_details.add(ActivityDetail("media.filename", _("File")))
body_rules.add(UPLOAD_BODY)
