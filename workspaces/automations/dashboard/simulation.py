"""The page on which people try a draft in a chat: nothing is sent, and nothing is saved."""

from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.utils import timezone
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from agency.pages.invalid_forms import mark_form_redisplayed
from agency.pages.views import person_of
from config.api.requests import is_storable
from config.api.text_fields import CONTROLS_BUT_LINES
from workspaces.automations.dashboard.editor import EditorPage
from workspaces.automations.execution.simulator import Simulation, SimulationRefused, WorkspaceValues
from workspaces.automations.execution.types import ContactValues, WaitKind
from workspaces.automations.flows.flow import Node
from workspaces.automations.flows.outline import config_of
from workspaces.automations.services.editing import draft_mark
from workspaces.subaccounts.services import settings_in_texts

SALT: Final = "workspaces.automations.dashboard.simulation"
# The page carries the whole chat, signed. A longer one cannot go on.
MOST_CHARACTERS: Final = 300_000
LONGEST_MESSAGE: Final = 1_000
# What a call to another system may give in the test, by the type of the step: port, label, result.
CallResult = tuple[str, str, Mapping[str, object] | None]


class AutomationTest(EditorPage):
    """Runs the draft for a made-up contact. Each POST does one thing in the chat and shows the page again."""

    keeps_form_data = True

    def get(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        self.find(uuid=uuid)
        return self._show(self._begun())

    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        self.find(uuid=uuid)
        mark_form_redisplayed(request)
        simulation = None if "begin" in request.POST else self._kept()
        if simulation is None:
            return self._show(self._begun(), is_new="begin" not in request.POST)
        self._do(simulation)
        return self._show(simulation)

    def only_looks(self, request: HttpRequest) -> bool:
        return True

    def _begun(self) -> Simulation | None:
        """Begin a chat; None if the draft cannot run as it is."""
        if self.reader.problem_count:
            return None
        workspace, language = self.workspace, (get_language() or "en").partition("-")[0]
        values = WorkspaceValues(
            settings=settings_in_texts(workspace),
            opening_hours=workspace.opening_hours,
            timezone=workspace.timezone,
            languages=(language,),
            currency=workspace.currency,
        )
        contact = ContactValues(name=_("Alex Example"), language=language, timezone=workspace.timezone)
        return Simulation.begin(
            self.automation.draft,
            self.automation.platform,
            contact,
            now=timezone.now(),
            workspace=values,
            text=self._typed("first") or None,
        )

    def _typed(self, name: str) -> str:
        text = self.request.POST.get(name, "").replace("\r\n", "\n")[:LONGEST_MESSAGE].strip()
        return CONTROLS_BUT_LINES.sub("", text) if is_storable(text) else ""

    def _salt(self) -> str:
        return f"{SALT}:{person_of(self.request).pk}:{self.automation.uuid}:{draft_mark(self.automation)}"

    def _kept(self) -> Simulation | None:
        """Give the chat that the page carries; None if it is of another draft or was changed."""
        signed = self.request.POST.get("chat", "")
        if self.reader.problem_count or len(signed) > MOST_CHARACTERS:
            return None
        try:
            return Simulation.from_json(self.automation.draft, signing.loads(signed, salt=self._salt()))
        except (signing.BadSignature, SimulationRefused):
            return None

    def _do(self, simulation: Simulation) -> None:
        sent = self.request.POST
        if "press" in sent:
            simulation.press(sent["press"][:40])
        elif "pay" in sent:
            simulation.pay()
        elif "wait" in sent:
            simulation.wait_until_next()
        elif "call" in sent:
            result = next((one for one in self._call_results(simulation) if one[0] == sent["call"]), None)
            if result:
                simulation.end_call(result[2])
        elif text := self._typed("text"):
            simulation.send(text)

    def _call_results(self, simulation: Simulation) -> list[CallResult]:
        """Give the results among which people choose while the automation waits for another system."""
        step: Node = self.reader.steps.get(simulation.state.node, {"type": ""})
        failed: CallResult = ("failed", _("It fails"), None)
        config: dict[str, Any] = config_of(step)
        if step["type"] == "http_call":
            return [("done", _("It answers"), {"status": 200, "text": _("An answer")}), failed]
        if step["type"] == "ai_classify":
            topics = [
                (f"topic_{number}", str(topic.get("title") or number), {"topic": f"topic_{number}"})
                for number, topic in enumerate(config.get("topics") or [], 1)
            ]
            return [*topics, ("other", _("Something else"), {"topic": "other"})]
        if step["type"] == "ai_extract":
            found = {str(one.get("save_as")): "…" for one in config.get("details") or []}
            return [("found", _("It finds the details"), found), failed]
        answer = {"answer": _("An answer of the A.I."), "facts": ["instructions"], "unsure": False}
        return [("answer", _("It answers"), answer), ("unsure", _("It is unsure"), None)]

    def _show(self, simulation: Simulation | None, *, is_new: bool = False) -> HttpResponse:
        chat = signing.dumps(simulation.to_json(), salt=self._salt(), compress=True) if simulation else ""
        is_too_long = len(chat) > MOST_CHARACTERS
        goes_on = simulation is not None and simulation.waits_for is not None and not is_too_long
        waits_for = simulation.waits_for if simulation and goes_on else None
        lines = simulation.transcript if simulation else []
        asked = next((number for number, line in reversed([*enumerate(lines)]) if line.options), None)
        return self.page(
            "automations/editor/test.html",
            automation=self.automation,
            edit_url=self.edit_url(),
            chat="" if is_too_long else chat,
            lines=lines,
            is_startable=simulation is not None,
            has_begun_anew=is_new,
            is_too_long=is_too_long,
            is_listening=waits_for is WaitKind.REPLY,
            waits=waits_for is not None and waits_for is not WaitKind.CALL,
            waits_for_payment=goes_on and simulation is not None and simulation.waits_for_payment,
            calls=self._call_results(simulation) if simulation and waits_for is WaitKind.CALL else [],
            asked=asked if waits_for is WaitKind.REPLY else None,
        )


urlpatterns = [path("automations/<id:uuid>/test", AutomationTest.as_view(), name="automation-test")]
