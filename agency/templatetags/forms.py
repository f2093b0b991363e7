"""The hidden nonce of every form."""

from typing import Any

from django import template

from agency.pages.forms.nonce import new_nonce

register = template.Library()


@register.simple_tag(takes_context=True)
def form_nonce(context: dict[str, Any]) -> str:
    """Return the page's own nonce, for a form that was shown before, or a new nonce."""
    return context.get("nonce") or new_nonce(context["request"].user.pk)
