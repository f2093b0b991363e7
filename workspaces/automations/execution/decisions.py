"""The reasons of decisions about events, in words for people."""

from collections.abc import Mapping
from typing import Final

from django.utils.translation import gettext_noop as _

REASONS: Final[Mapping[str, str]] = {
    "button": _("The contact pressed a button of an automation."),
    "answer": _("The message answers the question of an automation."),
    "ad_click": _("The conversation began with an ad."),
    "story_reply": _("The message replies to a story."),
    "story_mention": _("The contact mentioned the business in a story."),
    "keyword": _("The text has a keyword of the automation."),
    "first_message": _("It is the contact's first message."),
    "catch_all": _("The automation answers everything that no other automation answers."),
    "fact": _("The automation starts when this happens."),
    "awaited": _("An automation waited for this."),
    "started": _("A person or another automation started it."),
    "call_ended": _("Another system answered."),
    "automatic": _("The message was not written by a person."),
    "opted_out": _("The contact has opted out of messages."),
    "blocked": _("The contact is blocked."),
    "people_have_it": _("People of the team have this conversation in hand."),
    "hand_over": _("The contact asked for a person."),
    "stale_button": _("The button belongs to a question that is no longer open."),
    "catch_all_lately": _("The automation for all other messages has answered this contact in the last 24 hours."),
    "not_again": _("The contact may not go through the automation again now."),
    "started_itself": _("The automation caused this itself."),
    "too_deep": _("Too many automations in a row started each other."),
    "switched_off": _("The automation is switched off."),
    "too_late": _("No automation waits for this any more."),
    "no_match": _("No automation fits."),
}
