"""Prints the demonstration's lines: steps, arrived events, remarks. They are coloured on a terminal only."""

from typing import TextIO

from tools.demo.tracker import Confirmed


class Progress:
    """Numbers the steps; `steps` is how many there will be."""

    def __init__(self, output: TextIO, steps: int) -> None:
        self.output, self.steps, self.done = output, steps, 0

    def step(self, call: str, what: str, milliseconds: float) -> None:
        self.done += 1
        number = f"[{self.done:>{len(str(self.steps))}}/{self.steps}]"
        self._line(f"{self._in('1', number)} {call:<7} {what:<62} {milliseconds:>6.0f} ms")

    def event(self, found: Confirmed) -> None:
        when = f"{found.milliseconds:.0f} ms after the answer" if found.milliseconds >= 0 else "before the answer"
        sign = self._in("32", "✓ signature")
        self._line(f"        ← {found.expected.key[0]:<22} {found.expected.about:<28} {sign}  {when}")

    def remark(self, text: str) -> None:
        self._line(f"        … {text}")

    def problem(self, text: str) -> None:
        self._line(self._in("31", f"        ✗ {text}"))

    def summary(self, text: str) -> None:
        self._line(self._in("1", text))

    def _in(self, colour: str, text: str) -> str:
        return f"\033[{colour}m{text}\033[0m" if self.output.isatty() else text

    def _line(self, text: str) -> None:
        print(text, file=self.output, flush=True)
