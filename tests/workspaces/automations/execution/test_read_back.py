"""A date that could mean another one is read back, and counts only when the contact agrees."""

from dataclasses import replace

import pytest

from tests.factories.flows import Flow, a_flow, a_step
from tests.workspaces.automations.execution.running_flows import CONTEXT, messages_of, run, steps_taken, texts_of
from workspaces.automations.execution.simulator import Simulation
from workspaces.automations.execution.types import ContactValues, Progress, Replied, TimedOut

DAY = "When would you like to come?"
GERMAN = replace(CONTEXT, languages=("de", "en"), country="DE")
TOMORROW = "Tuesday, 3 March 2026, 15:00"
AGAIN = "Please send a date, such as 24 December."
RIGHT = f"{TOMORROW} \u2013 is that right?"


def asking(**config: str) -> Flow:
    ask = a_step("ask", "ask_question", {"answered": "a", "no_answer": "n"}, text=DAY, save_as="day", **config)
    return a_flow(ask, a_step("a", "send_text", text="Until {{answers.day}}!"), a_step("n", "send_text", text="Bye."))


DATE = asking(expects="date")


def say(text: str) -> Replied:
    return Replied(text)


def press(port: str, title: str = "Yes") -> Replied:
    return Replied(title, "interactive", port=port)


def texts_sent(flow: Flow, *replies: Replied | str) -> list[str]:
    """The texts that answer the last reply."""
    return texts_of(run(flow, *(say(one) if isinstance(one, str) else one for one in replies)))


def answer_of(progress: Progress) -> str | None:
    return progress.state.answers.get("day")


def test_an_unclear_date_is_read_back_with_buttons_and_kept_after_a_yes() -> None:
    asked = run(DATE, say("tomorrow at 3"))
    [message] = messages_of(asked)
    assert (message.text, message.style) == (RIGHT, "buttons")
    assert [(one.port, one.title) for one in message.options] == [("yes_1", "Yes"), ("no_1", "No")]
    assert answer_of(asked) is None
    for agreed in (press("yes_1"), say("yes, that's right")):
        done = run(DATE, say("tomorrow at 3"), agreed)
        assert (texts_of(done), answer_of(done)) == ([f"Until {TOMORROW}!"], "2026-03-03T15:00")
        assert "understood" not in done.state.values


def test_a_clear_date_is_not_read_back() -> None:
    assert texts_sent(DATE, "3 March, 15:00") == [f"Until {TOMORROW}!"]


@pytest.mark.parametrize("no", [press("no_1", "No"), say("no")])
def test_a_no_asks_again_and_a_correction_is_read_at_once(no: Replied) -> None:
    assert texts_sent(DATE, "tomorrow at 3", no) == [AGAIN]
    assert texts_sent(DATE, "tomorrow at 3", no, "5 March") == ["Until Thursday, 5 March 2026!"]
    for correction in ("no, 5 March", "5 March"):
        assert texts_sent(DATE, "tomorrow at 3", correction) == ["Until Thursday, 5 March 2026!"]
    assert texts_sent(DATE, "tomorrow at 3", "no, on Friday") == ["Friday, 6 March 2026 \u2013 is that right?"]


def test_what_is_neither_yes_nor_no_nor_a_date_is_asked_once_more() -> None:
    assert texts_sent(DATE, "tomorrow at 3", "hmm") == [RIGHT]
    assert texts_sent(DATE, "tomorrow at 3", "hmm", press("yes_1")) == [f"Until {TOMORROW}!"]


def test_reading_back_counts_as_one_of_two_askings() -> None:
    assert texts_sent(DATE, "tomorrow at 3", "no", "on Friday", "no") == ["Bye."]
    assert texts_sent(DATE, "what?", "tomorrow at 3", "no") == ["Bye."]
    assert texts_sent(DATE, "what?", "what?", "tomorrow at 3") == ["Bye."]
    assert texts_sent(DATE, "tomorrow at 3", "hmm", "hmm") == ["Bye."]


def test_buttons_of_an_earlier_date_do_nothing() -> None:
    tapped_twice = run(DATE, say("tomorrow at 3"), press("no_1", "No"), press("no_1", "No"))
    assert steps_taken(tapped_twice) == []
    late = run(DATE, say("tomorrow at 3"), press("no_1", "No"), say("on Friday"), press("yes_1"))
    assert (steps_taken(late), answer_of(late)) == ([], None)


def test_silence_after_reading_back_is_no_answer() -> None:
    silent = run(DATE, say("tomorrow at 3"), TimedOut())
    assert (texts_of(silent), answer_of(silent)) == (["Bye."], None)


def test_the_step_says_whether_dates_are_read_back() -> None:
    assert texts_sent(asking(expects="date", confirm="never"), "tomorrow at 3") == [f"Until {TOMORROW}!"]
    assert texts_sent(asking(expects="date", confirm="always"), "3 March, 15:00") == [RIGHT]
    assert texts_sent(asking(expects="text", confirm="always"), "tomorrow at 3") == ["Until tomorrow at 3!"]


def test_it_is_read_back_in_the_language_of_the_contact() -> None:
    asked = run(DATE, say("morgen um 3"), context=GERMAN)
    [message] = messages_of(asked)
    assert message.text.startswith("Dienstag, 3. März 2026, 15:00 \u2013 ")
    assert [one.title for one in message.options] == ["Ja", "Nein"]
    assert answer_of(run(DATE, say("morgen um 3"), say("ja, gerne"), context=GERMAN)) == "2026-03-03T15:00"


def test_the_test_chat_reads_dates_back_too() -> None:
    chat = Simulation.begin(DATE, "whatsapp", ContactValues(), now=CONTEXT.now)
    chat.send("tomorrow at 3")
    chat = Simulation.from_json(DATE, chat.to_json())
    chat.press("yes_1")
    assert [line.text for line in chat.transcript if line.by == "business"] == [DAY, RIGHT, f"Until {TOMORROW}!"]
