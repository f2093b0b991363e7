"""What stands hidden in every form."""

from typing import Any

from django import template

from agency.pages.forms.nonce import new_nonce

register = template.Library()


@register.simple_tag(takes_context=True)
def form_nonce(context: dict[str, Any]) -> str:
    """Give the page's own nonce, for a form that was shown before, or a new one."""
    return context.get("nonce") or new_nonce(context["request"].user.pk)
