"""Renders the documents' prose as HTML: paragraphs, code between backticks, and code as it is."""

import html

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString


def inline(text: str) -> SafeString:
    """Escape a text, and mark the text between backticks as code."""
    parts = " ".join(text.split()).split("`")
    return format_html_join(
        "", "{}", ((format_html("<code>{}</code>", part) if number % 2 else part,) for number, part in enumerate(parts))
    )


def paragraphs(text: str) -> SafeString:
    """Return a text's paragraphs as HTML."""
    return format_html_join("", "<p>{}</p>", ((inline(part),) for part in text.strip().split("\n\n")))


def verbatim(text: str) -> SafeString:
    """Escape code for the inside of an element. Quotes are harmless there and stay, as there are thousands of them."""
    return SafeString(html.escape(text, quote=False))
