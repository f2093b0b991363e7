"""Whether visitors without an account can sign up."""

from typing import Any

from django import template

from agency.pages.branding.host import host_agency
from agency.services import open_sign_up_of

register = template.Library()


@register.simple_tag(takes_context=True)
def sign_up_is_open(context: dict[str, Any]) -> bool:
    """Return whether customers can sign up on the requested host."""
    agency = host_agency(context["request"])
    return agency is not None and open_sign_up_of(agency) is not None
