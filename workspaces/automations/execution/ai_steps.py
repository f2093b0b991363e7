"""Steps in which the A.I. answers, sorts a message, or picks out details.

What the A.I. gives is data: an output that was not asked for counts as no output. Words of the contact never stand in
the instructions: a variable of the contact is written as its name, and its value goes along as something that was said.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Final

from workspaces.automations.execution.message_steps import cut, text_for
from workspaces.automations.execution.outside_steps import call_is_late, wait_for_call
from workspaces.automations.execution.running import EXPIRED, Config, Execution, Executor, Leave, Outcome, Pause
from workspaces.automations.execution.types import (
    DEFAULT_WAIT_HOURS,
    CallAi,
    CallEnded,
    Replied,
    RunEvent,
    Schema,
    SendMessage,
    TimedOut,
    Wait,
    WaitKind,
)
from workspaces.automations.execution.variables import value_of
from workspaces.automations.flows.privacy import IDEOGRAPHIC_DOT, VARIABLE

LONGEST_REPLY: Final = 1_000
LONGEST_DETAIL: Final = 500
LONGEST_FACT: Final = 4_000
LONGEST_MESSAGE: Final = 2_000
MOST_HISTORY: Final = 20
# The instructions are a fact too: the business wrote them.
INSTRUCTIONS: Final = "instructions"
CONTROL: Final = re.compile(r"[\x00-\x09\x0b-\x1f\x7f]")
# Parts of a text that could be followed as a link, among words without spaces.
LINK: Final = re.compile(r"://|@|(?:[^\W_]|-)\.[^\W\d_]{2,}|^www\.", re.IGNORECASE)
DIGITS: Final = re.compile(r"\d+")
MARKUP: Final = re.compile(r"[{}<>]|\]\(")
# Details of the step, for people: why the A.I.'s output was not used.
UNSURE: Final = "unsure"
OTHER: Final = "other"
REFUSED: Final = "answer_refused"


# Answers ---------------------------------------------------------------------------------------------


def _ai_answer(run: Execution, config: Config) -> Outcome:
    facts = _facts(run, config)
    run.do(_call(run, config, "answer", _instructions(run, config), _answer_schema(facts), facts))
    return wait_for_call(run)


def _instructions(run: Execution, config: Config) -> str:
    return _business_text(run, config.get("instructions"))[:LONGEST_FACT]


def _facts(run: Execution, config: Config) -> dict[str, str]:
    """Give the texts that an answer may rest on, by their names."""
    known = {**run.context.settings, **run.context.facts, INSTRUCTIONS: _instructions(run, config)}
    return {name: value[:LONGEST_FACT] for name, value in known.items() if value}


def _business_text(run: Execution, text: str | None) -> str:
    """Write the workspace's variables. All others become their names: `[contact.city]`."""

    def written(found: re.Match[str]) -> str:
        name = found[1].strip()
        return value_of(run, name) if name.startswith("workspace.") else f"[{name}]"

    return VARIABLE.sub(written, text or "").strip()


def _said(run: Execution, config: Config) -> tuple[tuple[str, str], ...]:
    """Give the conversation's latest messages, and before them the values of the variables in the instructions."""
    names = (found[1].strip() for found in VARIABLE.finditer(config.get("instructions") or ""))
    values = {name: value_of(run, name) for name in names if not name.startswith("workspace.")}
    told = [("contact", f"[{name}]: {value}") for name, value in values.items() if value]
    return tuple((by, text[:LONGEST_MESSAGE]) for by, text in [*told, *run.context.history[-MOST_HISTORY:]])


def _answer_schema(facts: Iterable[str]) -> Schema:
    return _object(
        answer={"type": "string", "maxLength": LONGEST_REPLY},
        facts={"type": "array", "items": {"type": "string", "enum": sorted(facts)}},
    )


def _object(**properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _call(
    run: Execution,
    config: Config,
    purpose: str,
    instructions: str,
    schema: Schema,
    facts: Mapping[str, str] | None = None,
) -> CallAi:
    return CallAi(
        purpose=purpose,
        instructions=instructions,
        schema=schema,
        account=config.get("account") or "",
        message=value_of(run, "message.text")[:LONGEST_MESSAGE],
        history=_said(run, config),
        facts=facts or {},
    )


def _ai_answer_goes_on(run: Execution, config: Config, event: RunEvent) -> Outcome | None:
    waits_for_call = run.state.wait is not None and run.state.wait.kind is WaitKind.CALL
    if waits_for_call:
        return _answered(run, config, event) if isinstance(event, CallEnded) else call_is_late(event, "unsure")
    if isinstance(event, TimedOut):
        return Leave("answered", EXPIRED)
    return _ai_answer(run, config) if isinstance(event, Replied) else None


def _answered(run: Execution, config: Config, event: CallEnded) -> Outcome:
    if not event.ok:
        return Leave("unsure", event.code[:40] or UNSURE)
    facts = _facts(run, config)
    named = event.result.get("facts")
    if event.result.get("unsure") or not isinstance(named, list) or not set(map(str, named)) & set(facts):
        return Leave("unsure", UNSURE)
    answer = plain_answer(event.result.get("answer"), facts.values())
    if answer is None:
        return Leave("unsure", REFUSED)
    run.send(SendMessage(text=text_for(run, answer)))
    run.ai = {**run.ai, "answer": answer}
    run.turns += 1
    if run.turns >= (config.get("turns") or 1) or not run.context.may_listen:
        return Leave("answered")
    return Pause(Wait(WaitKind.REPLY, run.context.now + timedelta(hours=DEFAULT_WAIT_HOURS)))


def plain_answer(text: object, facts: Iterable[str]) -> str | None:
    """Give the text if it is plain and each link and number in it stands in one of the facts; else None."""
    if not isinstance(text, str) or not 0 < len(text) <= LONGEST_REPLY:
        return None
    written = CONTROL.sub("", unicodedata.normalize("NFKC", text)).strip()
    if not written or MARKUP.search(written):
        return None
    judged, known = _judged(written), _judged("\n".join(facts))
    return written if _links(judged) <= _links(known) and _numbers(judged) <= _numbers(known) else None


def _judged(text: str) -> str:
    """Give a text as links and numbers are looked for in it: in one form, and without invisible characters."""
    text = "".join(one for one in unicodedata.normalize("NFKC", text) if unicodedata.category(one) != "Cf")
    return IDEOGRAPHIC_DOT.sub(".", text)


def _links(text: str) -> set[str]:
    return {word.strip(".,;:!?()[]\"'").casefold() for word in text.split() if LINK.search(word)}


def _numbers(text: str) -> set[int]:
    return {int(digits[:100]) for digits in DIGITS.findall(text)}


# Sorting ---------------------------------------------------------------------------------------------


def _ai_classify(run: Execution, config: Config) -> Outcome:
    topics = config.get("topics") or ()
    titles = [_title(run, topic) for topic in topics]
    schema = _object(topic={"type": "string", "enum": [*dict.fromkeys([*titles, OTHER])]})
    descriptions = [_business_text(run, topic.get("description")) for topic in topics]
    listed = "\n".join(f"{title}: {text}" if text else title for title, text in zip(titles, descriptions, strict=True))
    run.do(_call(run, config, "classify", f"Topics:\n{listed}\n{OTHER}: none of these", schema))
    return wait_for_call(run)


def _title(run: Execution, topic: Mapping[str, str]) -> str:
    return cut(_business_text(run, topic.get("title")), LONGEST_DETAIL)


def _classified(run: Execution, config: Config, event: RunEvent) -> Outcome | None:
    """Take the topic with this title, or by its port."""
    if not isinstance(event, CallEnded):
        return call_is_late(event, OTHER)
    given = event.result.get("topic") if event.ok else None
    titles = [_title(run, topic) for topic in config.get("topics") or ()]
    ports = [f"topic_{number}" for number in range(1, len(titles) + 1)]
    chosen = next((known.index(given) for known in (titles, ports) if given in known), None)
    if chosen is None:
        return Leave(OTHER, event.code[:40])
    run.ai = {**run.ai, "topic": titles[chosen]}
    return Leave(ports[chosen])


# Details ---------------------------------------------------------------------------------------------


def _ai_extract(run: Execution, config: Config) -> Outcome:
    details = {detail["save_as"]: detail.get("what") or "" for detail in config.get("details") or ()}
    found: Schema = {"type": ["string", "null"], "maxLength": LONGEST_DETAIL}
    schema = _object(**dict.fromkeys(details, found))
    listed = "\n".join(f"{name}: {_business_text(run, what)}" for name, what in details.items())
    run.do(_call(run, config, "extract", f"Details:\n{listed}", schema))
    return wait_for_call(run)


def _extracted(run: Execution, config: Config, event: RunEvent) -> Outcome | None:
    """Keep the details that were found. The run goes on by `found` only if none is missing."""
    if not isinstance(event, CallEnded):
        return call_is_late(event, "not_found")
    found = 0
    details = config.get("details") or ()
    for detail in details:
        value = event.result.get(detail["save_as"]) if event.ok else None
        if isinstance(value, str) and (kept := CONTROL.sub("", value).strip()[:LONGEST_DETAIL]):
            run.save_answer(detail["save_as"], kept)
            found += 1
    return Leave("found") if found == len(details) else Leave("not_found", event.code[:40])


AI_EXECUTORS: Final[Mapping[str, Executor]] = {
    "ai_answer": Executor(_ai_answer, _ai_answer_goes_on),
    "ai_classify": Executor(_ai_classify, _classified),
    "ai_extract": Executor(_ai_extract, _extracted),
}
