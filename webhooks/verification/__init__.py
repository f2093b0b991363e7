"""Sample programs that verify a delivery. The console and the documentation show them, and a test runs them."""

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
    """The source text of a program that checks a signature."""

    language: str
    text: str


@cache
def samples() -> tuple[Sample, ...]:
    """Return all samples in the order in which they are shown."""
    return tuple(Sample(language, (HERE / name).read_text()) for language, name in FILES.items())
