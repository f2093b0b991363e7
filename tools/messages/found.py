"""Finds the messages that pages show: those marked in templates and Python, sentences of refusals, and packs' names."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Final

import orjson
from django.template import engines
from django.template.base import Template
from django.templatetags.i18n import BlockTranslateNode, TranslateNode

from config.settings import BASE_DIR

APPS: Final = ("agency", "broadcasts", "channelconnect", "config", "packs", "webhooks", "workspaces")
TEXT: Final = frozenset({"_", "gettext", "gettext_lazy", "gettext_noop"})
PLURAL: Final = frozenset({"ngettext", "ngettext_lazy"})
WITH_CONTEXT: Final = frozenset({"pgettext", "pgettext_lazy"})
PLATFORM_PACKS: Final = BASE_DIR / "packs" / "library" / "platform_packs.json"
Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class FoundMessage:
    """One message. `plural` and `context` may be empty; `places` are file names from the project's root."""

    singular: str
    plural: str
    context: str
    places: tuple[str, ...]


def found_messages() -> list[FoundMessage]:
    """Give every message, in order."""
    places: dict[Key, set[str]] = defaultdict(set)
    for path, key in chain(_in_templates(), _in_modules(), _in_platform_packs()):
        places[key].add(str(path.relative_to(BASE_DIR)))
    return [FoundMessage(*key, tuple(sorted(files))) for key, files in sorted(places.items())]


def _in_templates() -> Iterator[tuple[Path, Key]]:
    for path in sorted((BASE_DIR / "templates").rglob("*")):
        if path.suffix in {".html", ".txt"}:
            yield from ((path, key) for key in _of_template(str(path.relative_to(BASE_DIR / "templates"))))


def _in_modules() -> Iterator[tuple[Path, Key]]:
    for app in APPS:
        for path in sorted((BASE_DIR / app).rglob("*.py")):
            if "migrations" not in path.parts:
                yield from ((path, key) for key in _of_module(path))


def _in_platform_packs() -> Iterator[tuple[Path, Key]]:
    """Give the names and summaries of the service's own packs."""
    for pack in orjson.loads(PLATFORM_PACKS.read_bytes())["packs"]:
        yield from ((PLATFORM_PACKS, (text, "", "")) for text in (pack["name"], pack["summary"]))


def _of_template(name: str) -> Iterator[Key]:
    template: Template = engines["django"].get_template(name).template  # type: ignore[attr-defined]
    nodes: list[Any] = template.nodelist.get_nodes_by_type(TranslateNode)
    for node in nodes:
        variable = node.filter_expression.var
        if isinstance(variable.literal, str) and variable.literal != variable.var:
            yield variable.literal.replace("%", "%%"), "", _constant(node.message_context)
    blocks: list[Any] = template.nodelist.get_nodes_by_type(BlockTranslateNode)
    for node in blocks:
        singular, _ = node.render_token_list(node.singular)
        plural = node.render_token_list(node.plural)[0] if node.plural else ""
        yield singular, plural, _constant(node.message_context)


def _constant(expression: object) -> str:
    """Give a context's text; in templates a context is always a constant."""
    variable = getattr(expression, "var", None)
    return str(getattr(variable, "literal", variable) or "") if variable is not None else ""


def _of_module(path: Path) -> Iterator[Key]:
    text = path.read_text()
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield from _of_call(node.func.id, [_text_of(argument) for argument in node.args])
        elif isinstance(node, ast.ClassDef):
            yield from ((sentence, "", "") for sentence in _messages_of(node))


def _of_call(name: str, texts: list[str | None]) -> Iterator[Key]:
    if name in TEXT and texts and texts[0]:
        yield texts[0], "", ""
    elif name in PLURAL and len(texts) > 1 and texts[0] and texts[1]:
        yield texts[0], texts[1], ""
    elif name in WITH_CONTEXT and len(texts) > 1 and texts[0] and texts[1]:
        yield texts[1], "", texts[0]


def _text_of(node: ast.expr) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _messages_of(node: ast.ClassDef) -> Iterator[str]:
    """Give the sentence of a refusal, which its class has as `message`."""
    for statement in node.body:
        if isinstance(statement, ast.Assign) and any(
            isinstance(target, ast.Name) and target.id == "message" for target in statement.targets
        ):
            text = _text_of(statement.value)
            if text:
                yield text
