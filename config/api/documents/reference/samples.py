"""One request in three languages, ready to run. The key comes from the environment; you fill in ids."""

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.safestring import SafeString

from config.api.documents.reference.prose import verbatim

LANGUAGES = {"curl": "curl", "python": "Python", "node": "Node"}
TIMEOUT_SECONDS = 10
UPLOADED = "price-list.pdf"


@dataclass(frozen=True, slots=True)
class SampleRequest:
    """The request that the samples send. `body` is None for no body; with `uploads_file` a file is sent instead."""

    method: str
    url: str
    body: Any
    is_idempotent: bool
    uploads_file: bool = False


@dataclass(frozen=True, slots=True)
class Sample:
    """A request in one language. `slug` is the language's short name."""

    slug: str
    text: str

    @property
    def shown(self) -> SafeString:
        return verbatim(self.text)


def samples_of(request: SampleRequest) -> tuple[Sample, ...]:
    """Write a request in every language."""
    texts: Mapping[str, str] = {"curl": _curl(request), "python": _python(request), "node": _node(request)}
    return tuple(Sample(slug, texts[slug]) for slug in LANGUAGES)


def laid_out(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def _curl(request: SampleRequest) -> str:
    lines = ["curl"] if request.method == "GET" else [f"curl -X {request.method}"]
    lines[0] += f" {shlex.quote(request.url)}"
    lines.append('-H "x-api-key: $API_KEY"')
    if request.is_idempotent:
        lines.append('-H "Idempotency-Key: $(openssl rand -hex 16)"')
    if request.body is not None:
        lines.append('-H "Content-Type: application/json"')
        lines.append(f"-d {shlex.quote(laid_out(request.body))}")
    if request.uploads_file:
        lines.append(f'-F "file=@{UPLOADED}"')
    return " \\\n  ".join(lines)


def _python(request: SampleRequest) -> str:
    imports = [
        "import os",
        *(["from pathlib import Path"] if request.uploads_file else []),
        *(["from uuid import uuid4"] if request.is_idempotent else []),
    ]
    headers = ['"x-api-key": os.environ["API_KEY"]']
    if request.is_idempotent:
        headers.append('"Idempotency-Key": str(uuid4())')
    body = [] if request.body is None else [f"json={_indented(python_literal(request.body))},"]
    if request.uploads_file:
        body = [f'files={{"file": ("{UPLOADED}", Path("{UPLOADED}").read_bytes())}},']
    return "\n".join(
        [
            *imports,
            "",
            "import requests",
            "",
            f"answer = requests.{request.method.lower()}(",
            f"    {json.dumps(request.url)},",
            f"    headers={{{', '.join(headers)}}},",
            *(f"    {line}" for line in body),
            f"    timeout={TIMEOUT_SECONDS},",
            ")",
            "answer.raise_for_status()",
            'print(answer.json()["data"])',
        ]
    )


def _node(request: SampleRequest) -> str:
    headers = ['"x-api-key": process.env.API_KEY']
    if request.is_idempotent:
        headers.append('"Idempotency-Key": crypto.randomUUID()')
    if request.body is not None:
        headers.append('"Content-Type": "application/json"')
    body = [] if request.body is None else [f"body: JSON.stringify({_indented(laid_out(request.body), by=2)}),"]
    before = []
    if request.uploads_file:
        before = [
            "const form = new FormData();",
            f'form.append("file", await (await import("node:fs")).openAsBlob("{UPLOADED}"), "{UPLOADED}");',
        ]
        body = ["body: form,"]
    return "\n".join(
        [
            *before,
            f"const answer = await fetch({json.dumps(request.url)}, {{",
            f'  method: "{request.method}",',
            f"  headers: {{ {', '.join(headers)} }},",
            *(f"  {line}" for line in body),
            f"  signal: AbortSignal.timeout({TIMEOUT_SECONDS}_000),",
            "});",
            "if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);",
            "console.log((await answer.json()).data);",
        ]
    )


def _indented(text: str, by: int = 4) -> str:
    return text.replace("\n", "\n" + " " * by)


def python_literal(value: Any, margin: str = "") -> str:
    """Write a JSON value as a Python literal with the same layout."""
    inner = f"{margin}    "
    if isinstance(value, dict) and value:
        entries = [f"{json.dumps(name)}: {python_literal(part, inner)}" for name, part in value.items()]
        return "{" + "".join(f"\n{inner}{entry}," for entry in entries) + f"\n{margin}}}"
    if isinstance(value, list) and value:
        return "[" + "".join(f"\n{inner}{python_literal(part, inner)}," for part in value) + f"\n{margin}]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return repr(value)
