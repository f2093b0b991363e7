"""Steps about the contact, and steps to the team."""

from collections.abc import Mapping
from typing import Final

from workspaces.automations.execution.message_steps import NOTHING_TO_SAY, cut, one_line, send_text
from workspaces.automations.execution.running import Config, Execution, Executor, Leave
from workspaces.automations.execution.types import (
    AddNote,
    AssignConversation,
    ChangeTag,
    CloseConversation,
    CreateTask,
    HandOver,
    NotifyTeam,
    SetField,
    Subscribe,
)
from workspaces.automations.execution.variables import customer_value, render

LONGEST_TAG: Final = 60
LONGEST_FIELD: Final = 500
LONGEST_NOTE: Final = 4_096
LONGEST_TASK: Final = 200
# The step's tag or value is already what it should become, or has no value.
NO_CHANGE: Final = "no_change"
NO_VALUE: Final = "no_value"


def _add_tag(run: Execution, config: Config) -> Leave:
    return _change_tag(run, config, is_added=True)


def _remove_tag(run: Execution, config: Config) -> Leave:
    return _change_tag(run, config, is_added=False)


def _change_tag(run: Execution, config: Config, *, is_added: bool) -> Leave:
    tag = one_line(run, config.get("tag"), LONGEST_TAG)
    if not tag:
        return Leave(detail=NO_VALUE)
    if run.has_tag(tag) == is_added:
        return Leave(detail=NO_CHANGE)
    run.do(ChangeTag(tag, is_added))
    return Leave()


def _set_field(run: Execution, config: Config) -> Leave:
    value = cut(render(run, config.get("value") or "", exact=True).strip(), LONGEST_FIELD)
    if not value:
        return Leave(detail=NO_VALUE)
    run.do(SetField(config["field"], value))
    return Leave()


def _subscription(run: Execution, config: Config) -> Leave:
    run.do(Subscribe(wants_marketing=config.get("change") == "subscribe"))
    return Leave()


def _assign_to(run: Execution, *emails: str | None) -> bool:
    email = next((written for one in emails if one and (written := customer_value(run, one))), "")
    if email:
        run.do(AssignConversation(email))
    return bool(email)


def _assign(run: Execution, config: Config) -> Leave:
    return Leave(detail="" if _assign_to(run, config.get("agent"), config.get("team")) else NO_VALUE)


def _hand_over(run: Execution, config: Config) -> Leave:
    if config.get("text"):
        send_text(run, config["text"])
    _assign_to(run, config.get("team"))
    run.do(HandOver())
    return Leave()


def _notify_team(run: Execution, config: Config) -> Leave:
    text = cut(render(run, config.get("text") or "").strip(), LONGEST_NOTE)
    recipients = tuple(
        email for one in config.get("recipients") or () if (email := customer_value(run, one.get("email") or ""))
    )
    # There is no SMS to people of the team: they see it in the app.
    run.do(NotifyTeam(text, by="email" if config.get("by") == "email" else "app", recipients=recipients))
    return Leave()


def _add_note(run: Execution, config: Config) -> Leave:
    text = cut(render(run, config.get("text") or "").strip(), LONGEST_NOTE)
    if not text:
        return Leave(detail=NOTHING_TO_SAY)
    run.do(AddNote(text))
    return Leave()


def _create_task(run: Execution, config: Config) -> Leave:
    title = one_line(run, config.get("title"), LONGEST_TASK)
    if not title:
        return Leave(detail=NOTHING_TO_SAY)
    run.do(CreateTask(title, config.get("due_hours"), customer_value(run, config.get("agent") or "")))
    return Leave()


def _close_conversation(run: Execution, config: Config) -> Leave:
    run.do(CloseConversation())
    return Leave(port="")


CONTACT_EXECUTORS: Final[Mapping[str, Executor]] = {
    "add_tag": Executor(_add_tag),
    "remove_tag": Executor(_remove_tag),
    "set_field": Executor(_set_field),
    "subscription": Executor(_subscription),
    "assign": Executor(_assign),
    "hand_over": Executor(_hand_over),
    "notify_team": Executor(_notify_team),
    "add_note": Executor(_add_note),
    "create_task": Executor(_create_task),
    "close_conversation": Executor(_close_conversation),
}
