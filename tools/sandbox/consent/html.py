"""The HTML of the pages that a person sees. It works without scripts."""

from collections.abc import Iterable, Mapping
from html import escape
from typing import Final

STYLE: Final = """
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif }
body { max-width: 40rem; margin: 2rem auto; padding: 0 1rem }
fieldset { border: 1px solid #888; border-radius: .5rem; margin: 0 0 1rem; padding: .75rem 1rem }
label, li { display: block; padding: .25rem 0 }
ul { padding: 0 }
button { font: inherit; padding: .6rem 1.2rem; border-radius: .5rem; border: 1px solid #555; margin-right: .5rem }
"""


def document(title: str, *parts: str) -> str:
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex">'
        # With this icon no browser asks for /favicon.ico, which would be a call of no provider.
        '<link rel="icon" href="data:,">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head><body><h1>{escape(title)}</h1>"
        + "".join(parts)
        + "</body></html>"
    )


def paragraph(text: str) -> str:
    return f"<p>{escape(text)}</p>"


def links(items: Iterable[tuple[str, str, str]]) -> str:
    """Give a list of links, each with its label and explanation."""
    rows = (f'<li><a href="{escape(url)}">{escape(label)}</a> {escape(what)}</li>' for url, label, what in items)
    return f"<ul>{''.join(rows)}</ul>"


def form(action: str, *parts: str) -> str:
    return f'<form method="post" action="{escape(action)}">{"".join(parts)}</form>'


def hidden(values: Mapping[str, str]) -> str:
    return "".join(
        f'<input type="hidden" name="{escape(name)}" value="{escape(text)}">' for name, text in values.items()
    )


def checkboxes(title: str, name: str, items: Iterable[tuple[str, str]], *, fixed: bool = False) -> str:
    """Give ticked boxes, each with a value and a label. `fixed` boxes cannot be unticked."""
    extra = " disabled" if fixed else ""
    rows = (
        f'<label><input type="checkbox" name="{escape(name)}" value="{escape(value)}" checked{extra}> '
        f"{escape(label)}</label>"
        for value, label in items
    )
    return f"<fieldset><legend>{escape(title)}</legend>{''.join(rows)}</fieldset>"


def buttons(*choices: tuple[str, str]) -> str:
    return "".join(
        f'<button type="submit" name="decision" value="{escape(value)}">{escape(label)}</button>'
        for value, label in choices
    )
