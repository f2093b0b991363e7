"""Runs of automations with their steps, the facts that start and continue them, and the queue of contacts."""

import uuid
from typing import Self

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from workspaces.automations.models.automations import Automation, AutomationVersion
from workspaces.subaccounts.models import Workspace

LONGEST_SOURCE_KEY = 200


class TriggerEvent(models.Model):
    """A fact about a contact that may start a run or continue one. The fact's own transaction writes it.

    `source_key` names the fact, so that it counts once: `message:<id>`, `tag:<contact>:<tag>:<…>`,
    `birthday:<contact>:<year>`. `subject` is what narrows triggers: the tag, the post, the ad. `data` holds the values
    that the fact has besides, or the result of an outside call; messages are read from their own rows. `depth` counts
    how many automations in a row led here; `cause` is the run that caused the fact, so that no automation starts
    itself.

    The engine writes `outcome` once. `reason` says why nothing started, or what decided. Rows have no foreign keys:
    they are written for every message.
    """

    class Outcome(models.TextChoices):
        STARTED = "started", _("Started an automation")
        CONTINUED = "continued", _("Continued an automation")
        NOTHING = "nothing", _("Started nothing")

    workspace_id = models.BigIntegerField()
    contact_id = models.BigIntegerField()
    kind = models.CharField(max_length=30)
    source_key = models.CharField(max_length=LONGEST_SOURCE_KEY)
    channel_id = models.BigIntegerField(null=True)
    conversation_id = models.BigIntegerField(null=True)
    message_id = models.BigIntegerField(null=True)
    subject = models.CharField(max_length=200, blank=True)
    data = models.JSONField(null=True)
    depth = models.SmallIntegerField(default=0)
    cause = models.BigIntegerField(null=True)
    outcome = models.CharField(max_length=10, choices=Outcome, null=True)
    reason = models.CharField(max_length=40, blank=True, db_default="")
    automation_id = models.BigIntegerField(null=True)
    run_id = models.BigIntegerField(null=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace_id", "source_key"], name="trigger_event_once"),
            models.CheckConstraint(condition=Q(depth__gte=0), name="trigger_event_depth_is_counted"),
        ]
        indexes = [
            models.Index(fields=["contact_id", "id"], condition=Q(outcome=None), name="trigger_event_new"),
            models.Index(fields=["contact_id"], condition=Q(outcome__isnull=False), name="trigger_event_of_contact"),
            models.Index(fields=["message_id"], condition=Q(message_id__isnull=False), name="trigger_event_message"),
            models.Index(fields=["created_at"], condition=Q(outcome__isnull=False), name="trigger_event_old"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} of contact {self.contact_id}"


class ContactQueue(models.Model):
    """A contact with something to do for its automations. One transaction at a time works on a contact.

    `is_due` says, with `due_since`, that there are new events or that a wait has ended; else `ready_at` is the next
    moment at which a wait ends.
    `is_suspect` marks a contact in whose batch a process died: it is then worked on alone, and its tries are counted.
    The other columns count the automations' messages to this contact, for the caps of a minute and of a day, and how
    often the same text was sent in a row.
    """

    contact_id = models.BigIntegerField(primary_key=True)
    workspace_id = models.BigIntegerField()
    agency_id = models.BigIntegerField()
    is_due = models.BooleanField(default=True)
    due_since = models.DateTimeField(db_default=Now())
    is_suspect = models.BooleanField(default=False, db_default=False)
    ready_at = models.DateTimeField(null=True)
    minute_began_at = models.DateTimeField(null=True)
    minute_count = models.SmallIntegerField(default=0, db_default=0)
    day_began_at = models.DateTimeField(null=True)
    day_count = models.SmallIntegerField(default=0, db_default=0)
    last_text_digest = models.BigIntegerField(null=True)
    last_text_count = models.SmallIntegerField(default=0, db_default=0)
    last_text_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(
                fields=["workspace_id", "due_since"],
                condition=Q(is_due=True, is_suspect=False),
                name="contact_queue_due",
            ),
            models.Index(
                fields=["ready_at"], condition=Q(is_due=False, ready_at__isnull=False), name="contact_queue_waiting"
            ),
            models.Index(fields=["contact_id"], condition=Q(is_suspect=True), name="contact_queue_suspect"),
            models.Index(
                fields=["day_began_at"], condition=Q(is_due=False, ready_at__isnull=True), name="contact_queue_idle"
            ),
        ]

    def __str__(self) -> str:
        return f"automations of contact {self.contact_id}"


class EngineBatch(models.Model):
    """The contacts that one process works on now. The row is committed before the work and deleted with it.

    A row whose process holds no advisory lock on `worker` any more is from a process that died.
    """

    worker = models.BigIntegerField(primary_key=True)
    contacts = models.JSONField()
    begun_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        verbose_name_plural = "engine batches"

    def __str__(self) -> str:
        return f"batch of worker {self.worker}"


class AutomationRunQuerySet(models.QuerySet["AutomationRun"]):
    def of(self, workspace: Workspace) -> Self:
        """Keep the runs of one workspace's automations. Those of a removed automation are about to be deleted."""
        return self.filter(workspace=workspace, automation__removed_at=None)

    def active(self) -> Self:
        return self.filter(status__in=AutomationRun.ACTIVE)

    def newest_first(self) -> Self:
        return self.order_by("-id")


class AutomationRun(models.Model):
    """One contact's way through one version of an automation.

    `node` is the step that waits or comes next, `seq` the number of steps done. `data` is the rest of
    `execution.types.RunState` as JSON. A waiting run has `wait_kind` and `wait_until`. A `running` run is about to go
    on: it waits for an outside call (`wait_kind` call) or for the engine (`wait_kind` begin).

    `subject` separates runs that may go on beside each other, such as those of two appointments. `entry_key` is set
    where a contact may enter only once. `event` is the `TriggerEvent` that started the run; `comment` is the network's
    id of the comment that did. `error_…` say why a run failed.
    """

    class Status(models.TextChoices):
        RUNNING = "running", _("Running")
        WAITING = "waiting", _("Waiting")
        COMPLETED = "completed", _("Completed")
        STOPPED = "stopped", _("Stopped")
        FAILED = "failed", _("Failed")

    class WaitKind(models.TextChoices):
        BEGIN = "begin", _("Waiting for its turn.")
        REPLY = "reply", _("Waiting for a reply.")
        TIME = "time", _("Waiting for a set time.")
        CALL = "call", _("Waiting for another system.")
        EVENT = "event", _("Waiting for an event.")
        TURN = "turn", _("Waiting for another automation to end.")

    ACTIVE = (Status.RUNNING, Status.WAITING)

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+", db_index=False)
    automation = models.ForeignKey(Automation, on_delete=models.CASCADE, related_name="runs", db_index=False)
    version = models.ForeignKey(AutomationVersion, on_delete=models.RESTRICT, related_name="runs", db_index=False)
    contact_id = models.BigIntegerField()
    channel_id = models.BigIntegerField()
    conversation_id = models.BigIntegerField(null=True)
    status = models.CharField(max_length=10, choices=Status)
    node = models.CharField(max_length=60)
    seq = models.IntegerField(default=0)
    messages = models.IntegerField(default=0)
    data = models.JSONField(default=dict)
    wait_kind = models.CharField(max_length=10, choices=WaitKind, null=True)
    wait_key = models.CharField(max_length=200, blank=True)
    wait_until = models.DateTimeField(null=True)
    tries = models.SmallIntegerField(default=0, db_default=0)
    depth = models.SmallIntegerField(default=0)
    subject = models.CharField(max_length=200, blank=True)
    entry_key = models.CharField(max_length=60, blank=True)
    event = models.BigIntegerField(null=True)
    comment = models.CharField(max_length=200, blank=True)
    started_by_kind = models.CharField(max_length=20)
    started_by_label = models.CharField(max_length=254, blank=True)
    error_code = models.CharField(max_length=60, blank=True)
    error_node = models.CharField(max_length=60, blank=True)
    error_message = models.CharField(max_length=500, blank=True)
    started_at = models.DateTimeField(default=timezone.now)
    ended_at = models.DateTimeField(null=True)

    objects = AutomationRunQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["conversation_id"],
                condition=Q(wait_kind="reply", conversation_id__isnull=False),
                name="automation_run_listens_alone",
            ),
            models.UniqueConstraint(
                fields=["automation", "contact_id", "subject"],
                condition=Q(status__in=("running", "waiting")),
                name="automation_run_active_once",
            ),
            models.UniqueConstraint(
                fields=["automation", "contact_id", "entry_key"],
                condition=~Q(entry_key=""),
                name="automation_run_entered_once",
            ),
            models.UniqueConstraint(
                fields=["event", "automation"], condition=Q(event__isnull=False), name="automation_run_once_per_event"
            ),
            models.CheckConstraint(
                condition=Q(status__in=("running", "waiting"), wait_kind__isnull=False, wait_until__isnull=False)
                | Q(status__in=("completed", "stopped", "failed"), wait_kind=None, wait_until=None),
                name="automation_run_active_has_a_deadline",
            ),
            models.CheckConstraint(
                condition=Q(status__in=("running", "waiting"), ended_at=None)
                | Q(status__in=("completed", "stopped", "failed"), ended_at__isnull=False),
                name="automation_run_ended_has_a_time",
            ),
            models.CheckConstraint(
                condition=(Q(status="failed") & ~Q(error_code="")) | (~Q(status="failed") & Q(error_code="")),
                name="automation_run_failed_has_an_error",
            ),
        ]
        indexes = [
            models.Index(
                fields=["contact_id"], condition=Q(status__in=("running", "waiting")), name="automation_run_active"
            ),
            models.Index(fields=["automation", "-id"], name="automation_run_newest"),
            models.Index(fields=["contact_id", "-id"], name="automation_run_of_contact"),
            models.Index(
                fields=["automation", "-ended_at"], condition=Q(ended_at__isnull=False), name="automation_run_ended"
            ),
            models.Index(fields=["version"], name="automation_run_of_version"),
        ]

    def __str__(self) -> str:
        return f"run {self.uuid}"


class AutomationRunStep(models.Model):
    """A step that a run has done. `message` is the first message that it sent, `detail` why it took its port.

    `other_messages` are those that it sent besides, such as a file's text on networks without captions.
    """

    run = models.ForeignKey(
        AutomationRun, on_delete=models.CASCADE, db_constraint=False, db_index=False, related_name="steps"
    )
    seq = models.IntegerField()
    node = models.CharField(max_length=60)
    port = models.CharField(max_length=40, blank=True)
    detail = models.CharField(max_length=200, blank=True)
    message_id = models.BigIntegerField(null=True)
    other_messages = ArrayField(models.BigIntegerField(), null=True)
    at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "seq"], name="automation_run_step_once")]
        indexes = [models.Index(fields=["at"], name="automation_run_step_old")]

    def __str__(self) -> str:
        return f"step {self.seq} of run {self.run_id}"


class AutomationPause(models.Model):
    """People have this conversation in hand: no automation answers in it. `until` is None until it is closed."""

    conversation_id = models.BigIntegerField(primary_key=True)
    workspace_id = models.BigIntegerField()
    until = models.DateTimeField(null=True)
    reason = models.CharField(max_length=40)
    by_label = models.CharField(max_length=254, blank=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        indexes = [models.Index(fields=["until"], condition=Q(until__isnull=False), name="automation_pause_until")]

    def __str__(self) -> str:
        return f"pause in conversation {self.conversation_id}"


class AutomationCount(models.Model):
    """How often something happened in an automation on one day (UTC). `PendingCount` holds what is not added yet.

    For a step, `node` is its id and `port` the port by which runs left it (`` where they wait or end). For whole runs
    `node` is empty and `port` is started, completed, stopped, failed, messages or handed_over.
    """

    automation = models.ForeignKey(Automation, on_delete=models.CASCADE, related_name="+", db_index=False)
    version = models.ForeignKey(AutomationVersion, on_delete=models.CASCADE, related_name="+", db_index=False)
    day = models.DateField()
    node = models.CharField(max_length=60, blank=True)
    port = models.CharField(max_length=40, blank=True)
    number = models.IntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["automation", "version", "day", "node", "port"], name="automation_count_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.number} of automation {self.automation_id}"


class PendingCount(models.Model):
    """What one batch of the engine has counted. The rows of many batches are added to `AutomationCount` together.

    So engines wait for no shared counter, and add to a counter once for many batches. The arrays have the same length;
    the values are those of `AutomationCount`.
    """

    day = models.DateField()
    automations = ArrayField(models.BigIntegerField())
    versions = ArrayField(models.BigIntegerField())
    nodes = ArrayField(models.CharField(max_length=60))
    ports = ArrayField(models.CharField(max_length=40))
    numbers = ArrayField(models.IntegerField())

    def __str__(self) -> str:
        return f"counts of a batch on {self.day}"


class TriggerGeneration(models.Model):
    """Grows when the automations of a workspace change. The engine then reads their triggers anew.

    A database trigger on `Automation` writes it.
    """

    workspace_id = models.BigIntegerField(primary_key=True)
    number = models.BigIntegerField(default=1)

    def __str__(self) -> str:
        return f"generation {self.number} of workspace {self.workspace_id}"
