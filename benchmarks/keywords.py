"""Measures how fast a message finds its automations, in many workspaces with many keywords each."""

import random
import time
import tracemalloc
from collections.abc import Sequence
from statistics import fmean

from benchmarks.figures import Figure
from benchmarks.servers import Bench
from workspaces.automations.execution.keywords import CompiledTriggers, TriggerSource, compile_triggers

WORKSPACES, AUTOMATIONS, KEYWORDS, PHRASES, WORDS, MESSAGES = 1_000, 200, 8, 940, 20_000, 5_000
# Workspaces whose memory is measured.
MEASURED = 20
MOST_MICROSECONDS = 30.0
LENGTH = 77
TITLE = (
    f"Keywords: messages of {LENGTH} characters, {WORKSPACES:,} workspaces, {AUTOMATIONS} automations of {KEYWORDS} "
    "keywords each."
)


# Twenty-four of the library's twenty-five keyword triggers look for keywords anywhere in the text.
MODES, SHARES = ("contains", "exact", "starts_with"), (24, 1, 1)


def run(bench: Bench) -> list[Figure]:
    rng = random.Random(7)
    words = ["".join(rng.choices("abcdefghijklmnoprstuvw", k=rng.randint(3, 9))) for _ in range(WORDS)]
    words += ["".join(rng.choices("äöüéñçàß", k=1)) + word for word in words[: WORDS // 10]]
    vocabularies = [_phrases(rng, words) for _ in range(WORKSPACES)]
    sources = [_sources(rng, phrases) for phrases in vocabularies]
    tracemalloc.start()
    compiled = [compile_triggers(one) for one in sources[:MEASURED]]
    memory = tracemalloc.get_traced_memory()[0] / MEASURED
    tracemalloc.stop()
    began = time.process_time()
    compiled += [compile_triggers(one) for one in sources[MEASURED:]]
    build = (time.process_time() - began) / (WORKSPACES - MEASURED)
    chosen = rng.choices(range(WORKSPACES), k=MESSAGES)
    latin = [(_message(rng, words, vocabularies[at]), compiled[at]) for at in chosen]
    han = [("".join(chr(rng.randint(0x4E00, 0x4FFF)) for _ in range(LENGTH)), one) for _, one in latin]
    one_hot = [(_message(rng, words, vocabularies[0]), compiled[0]) for _ in range(MESSAGES)]
    return [
        Figure(name="a message, workspaces at random", measured=_cost(latin), unit="µs", at_most=MOST_MICROSECONDS),
        Figure(name="a message, one workspace", measured=_cost(one_hot), unit="µs"),
        Figure(name="a Chinese message, workspaces at random", measured=_cost(han), unit="µs"),
        Figure(
            name="messages with a keyword",
            measured=100 * fmean(bool(_match(text, one)) for text, one in latin),
            unit="%",
        ),
        Figure(name="compiling a workspace", measured=build * 1_000, unit="ms"),
        Figure(name="memory of a workspace", measured=memory / 1024, unit="KiB"),
    ]


def _phrases(rng: random.Random, words: Sequence[str]) -> list[str]:
    return [" ".join(rng.choices(words, k=rng.choice((1, 1, 1, 2, 2, 3)))) for _ in range(PHRASES)]


def _sources(rng: random.Random, phrases: Sequence[str]) -> list[TriggerSource]:
    return [
        TriggerSource(
            automation_id=number,
            version_id=number,
            platform="whatsapp",
            trigger_type="keyword",
            config={"keywords": rng.sample(phrases, KEYWORDS), "match": rng.choices(MODES, SHARES)[0]},
            created_order=number,
        )
        for number in range(AUTOMATIONS)
    ]


def _message(rng: random.Random, words: Sequence[str], phrases: Sequence[str]) -> str:
    """Write a message of words with keywords of the workspace among them."""
    said = [*rng.choices(words, k=9), *rng.choices(phrases, k=2)]
    rng.shuffle(said)
    return " ".join(said).capitalize()[:LENGTH]


def _match(text: str, compiled: CompiledTriggers) -> object:
    return compiled.match(text, kind="keyword", platform="whatsapp")


def _cost(messages: Sequence[tuple[str, CompiledTriggers]]) -> float:
    """Give the microseconds of the processor for a message."""
    began = time.process_time()
    for text, compiled in messages:
        _match(text, compiled)
    return (time.process_time() - began) / len(messages) * 1_000_000
