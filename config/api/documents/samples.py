"""One request in three languages, ready to run. The key comes from the environment; you fill in ids and addresses."""

import json
import re
import shlex
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from django.utils.safestring import SafeString

from config.api.documents.schemas import Schema, Schemas, verbatim

LANGUAGES = {"curl": "curl", "python": "Python", "node": "Node"}
TIMEOUT_SECONDS = 10
UPLOADED = "price-list.pdf"
ANSWERED = "answer.pdf"
FILE_IN_NODE = f"""const bytes = Buffer.from(await answer.arrayBuffer());
await (await import("node:fs/promises")).writeFile("{ANSWERED}", bytes);"""


@dataclass(frozen=True, slots=True)
class SampleRequest:
    """The request that the samples send. `body` is None for no body; with `uploads_file` a file is sent instead.

    `gets_file` says that the answer is a file, which the samples write to `answer.pdf`.
    """

    method: str
    url: str
    body: object
    is_idempotent: bool
    uploads_file: bool = False
    gets_file: bool = False


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


def pretty_json(value: object, indent: int = 2) -> str:
    return json.dumps(value, indent=indent, ensure_ascii=False)


def _curl(request: SampleRequest) -> str:
    lines = ["curl"] if request.method == "GET" else [f"curl -X {request.method}"]
    lines[0] += f" {shlex.quote(request.url)}"
    lines.append('-H "x-api-key: $API_KEY"')
    if request.is_idempotent:
        lines.append('-H "Idempotency-Key: $(openssl rand -hex 16)"')
    if request.body is not None:
        lines.append('-H "Content-Type: application/json"')
        lines.append(f"-d {shlex.quote(pretty_json(request.body))}")
    if request.uploads_file:
        lines.append(f'-F "file=@{UPLOADED}"')
    if request.gets_file:
        lines.append(f"-o {ANSWERED}")
    return " \\\n  ".join(lines)


def _python(request: SampleRequest) -> str:
    imports = [
        "import os",
        *(["from pathlib import Path"] if request.uploads_file or request.gets_file else []),
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
            f'Path("{ANSWERED}").write_bytes(answer.content)' if request.gets_file else 'print(answer.json()["data"])',
        ]
    )


def _node(request: SampleRequest) -> str:
    headers = ['"x-api-key": process.env.API_KEY']
    if request.is_idempotent:
        headers.append('"Idempotency-Key": crypto.randomUUID()')
    if request.body is not None:
        headers.append('"Content-Type": "application/json"')
    body = [] if request.body is None else [f"body: JSON.stringify({_indented(pretty_json(request.body), by=2)}),"]
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
            FILE_IN_NODE if request.gets_file else "console.log((await answer.json()).data);",
        ]
    )


def _indented(text: str, by: int = 4) -> str:
    return text.replace("\n", "\n" + " " * by)


def python_literal(value: object, margin: str = "") -> str:
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


# You fill in ids and addresses, because those of the example belong to nobody.

NAME_IN_PATH = re.compile(r"{(\w+)}")
LEFT_OUT = object()
FORMS = ("object", "array", "string")
ADDRESS = "url"  # the field with an address that the product calls


def placeholder(name: str) -> str:
    """Return the placeholder of an id by its field or parameter: `CATEGORY_ID` for `category` and `category_id`."""
    return f"{name.removesuffix('_id').upper()}_ID"


def parameter_placeholder(parameter: Schema) -> str:
    """Return the placeholder of a required parameter: `FROM_TIME` for a time, else that of an id."""
    is_time = parameter["schema"].get("format") == "date-time"
    return f"{parameter['name'].upper()}_TIME" if is_time else placeholder(parameter["name"])


def with_placeholders(body: object, schema: Schema, schemas: Schemas, *, path: str) -> object:
    """Return a body with placeholders for ids. Optional parts are left out if they hold an id or nothing."""
    taken = {placeholder(name) for name in NAME_IN_PATH.findall(path)}
    filled = _Filling(schemas, path, taken).filled(body, schema, name="")
    return body if filled is LEFT_OUT else filled


class _Filling:
    def __init__(self, schemas: Schemas, path: str, taken: Collection[str]) -> None:
        self.schemas, self.path, self.taken = schemas, path, taken

    def filled(self, value: object, schema: Schema, *, name: str, is_needed: bool = True) -> object:
        """Return a value with its placeholders, or `LEFT_OUT`."""
        whole = self._form(schema)
        if isinstance(value, dict) and "properties" in whole:
            return self._object(value, whole)
        if isinstance(value, list) and self._form(whole.get("items", {})).get("format") == "uuid":
            return [self._id(name)] if is_needed and value else LEFT_OUT
        if whole.get("format") == "uuid":
            return self._id(name) if is_needed else LEFT_OUT
        if name == ADDRESS:
            return "YOUR_URL"
        return value if is_needed or value is not None else LEFT_OUT

    def _object(self, value: Mapping[str, object], schema: Schema) -> object:
        needed, properties = schema.get("required", ()), schema["properties"]
        parts = {
            name: self.filled(part, properties.get(name, {}), name=name, is_needed=name in needed)
            for name, part in value.items()
        }
        kept = {name: part for name, part in parts.items() if part is not LEFT_OUT}
        return kept or LEFT_OUT

    def _id(self, name: str) -> str:
        """Return the placeholder of a field's id.

        In a list it is named after the list's entries. `OTHER_` distinguishes it from an id in the path.
        """
        own = placeholder(_listed_in(self.path) if name == "order" else _singular(name))
        return f"OTHER_{own}" if own in self.taken else own

    def _form(self, schema: Schema) -> Schema:
        """Return the schema of a value that is not null."""
        whole = self.schemas.resolved(schema)
        parts = [self.schemas.resolved(part) for part in whole.get("oneOf", whole.get("anyOf", ()))]
        return next((part for part in parts if part.get("type") in FORMS), whole)


def _singular(name: str) -> str:
    return f"{name[:-3]}y" if name.endswith("ies") else name.removesuffix("s")


def _listed_in(path: str) -> str:
    return _singular(path.rsplit("/", 2)[-2])
