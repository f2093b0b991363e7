"""How receivers verify a delivery: shown in the console and in the documentation, run by a test."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent
FILES = {
    "Python, with a library": "verify_standard.py.txt",
    "Python": "verify.py.txt",
    "Node": "verify.mjs",
    "PHP": "verify.php",
    "curl and openssl": "verify.sh",
}


@dataclass(frozen=True, slots=True)
class Sample:
    """A program text that checks a signature."""

    language: str
    text: str


@cache
def samples() -> tuple[Sample, ...]:
    """All of them, in the order in which they are shown."""
    return tuple(Sample(language, (HERE / name).read_text()) for language, name in FILES.items())
