"""Calls that runs wait for, of other systems and of the product itself; and reminders of appointments."""

import uuid
from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from agency.models import Agency
from config.encryption import EncryptedTextField
from workspaces.automations.models.ai import AiAccount
from workspaces.subaccounts.models import Workspace

LONGEST_PEER = 260


class OutsideCall(models.Model):
    """A call that a run waits for. The engine plans it in its transaction; the dispatcher makes it.

    `run_id` and `seq` name the step, and so the call: a step calls once. `request` is the call as JSON (`CallHttp` or
    `CallAi` of `execution.types`), encrypted, and deleted when the call has ended; without it the request was too
    large. `peer` is what may be slow: the host, or the A.I. account.

    `tries` counts the calls that were begun. A `claimed` call belongs to the worker run `claimed_by` until `due_at`;
    then it is due again. Nobody begins the call after `deadline`. `reserved` is the part of the budget of `account`
    that the present try may use up, in millionths, counted in `month`.
    """

    class Kind(models.TextChoices):
        HTTP = "http"
        ANSWER = "answer"
        CLASSIFY = "classify"
        EXTRACT = "extract"

    class Status(models.TextChoices):
        PLANNED = "planned"
        CLAIMED = "claimed"
        DONE = "done"
        FAILED = "failed"
        UNKNOWN = "unknown"

    ACTIVE: ClassVar = (Status.PLANNED, Status.CLAIMED)

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    run_id = models.BigIntegerField()
    run_uuid = models.UUIDField()
    seq = models.IntegerField()
    agency = models.ForeignKey(Agency, on_delete=models.CASCADE, related_name="+", db_index=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+", db_index=False)
    contact_id = models.BigIntegerField()
    channel_id = models.BigIntegerField(null=True)
    conversation_id = models.BigIntegerField(null=True)
    depth = models.SmallIntegerField(default=0)
    kind = models.CharField(max_length=10, choices=Kind)
    peer = models.CharField(max_length=LONGEST_PEER)
    request = EncryptedTextField(bound_to="uuid", null=True)
    status = models.CharField(max_length=10, choices=Status, default=Status.PLANNED)
    code = models.CharField(max_length=40, blank=True, db_default="")
    tries = models.SmallIntegerField(default=0, db_default=0)
    due_at = models.DateTimeField()
    deadline = models.DateTimeField()
    claimed_by = models.BigIntegerField(null=True)
    account = models.ForeignKey(AiAccount, on_delete=models.SET_NULL, null=True, related_name="+", db_index=False)
    reserved = models.BigIntegerField(default=0, db_default=0)
    month = models.DateField(null=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run_id", "seq"], name="outside_call_once"),
            models.CheckConstraint(
                condition=Q(status="claimed", claimed_by__isnull=False) | ~Q(status="claimed") & Q(claimed_by=None),
                name="outside_call_claim_has_a_worker",
            ),
            models.CheckConstraint(
                condition=Q(status__in=("planned", "claimed"), ended_at=None)
                | Q(status__in=("done", "failed", "unknown"), ended_at__isnull=False, request=None, reserved=0),
                name="outside_call_ended_keeps_nothing",
            ),
            models.CheckConstraint(condition=Q(reserved=0) | Q(month__isnull=False), name="outside_call_reserved_when"),
        ]
        indexes = [
            # The dispatcher goes through workspaces and peers in turns.
            models.Index(
                fields=["workspace", "peer", "due_at"],
                condition=Q(status__in=("planned", "claimed")),
                name="outside_call_due",
            ),
            models.Index(
                fields=["deadline"], condition=Q(status__in=("planned", "claimed")), name="outside_call_deadline"
            ),
            models.Index(fields=["claimed_by"], condition=Q(status="claimed"), name="outside_call_claimed"),
            models.Index(fields=["ended_at"], condition=Q(ended_at__isnull=False), name="outside_call_ended"),
            # For the removal of a workspace, an agency or an account.
            models.Index(fields=["workspace"], name="outside_call_of_workspace"),
            models.Index(fields=["agency"], name="outside_call_of_agency"),
            models.Index(fields=["account"], condition=Q(account__isnull=False), name="outside_call_of_account"),
        ]

    def __str__(self) -> str:
        return f"call {self.seq} of run {self.run_id}"


class InternalCall(models.Model):
    """What a run asks of the product's own appointments and invoices, until the answer is recorded.

    The engine does each in a transaction of its own, which deletes the row and records the result as a `TriggerEvent`.
    `kind` and `request` are a call of `execution.internal_calls`; `label` is the automation's name.
    """

    run_id = models.BigIntegerField()
    run_uuid = models.UUIDField()
    seq = models.IntegerField()
    workspace_id = models.BigIntegerField()
    contact_id = models.BigIntegerField()
    channel_id = models.BigIntegerField(null=True)
    conversation_id = models.BigIntegerField(null=True)
    depth = models.SmallIntegerField(default=0)
    label = models.CharField(max_length=254, blank=True)
    kind = models.CharField(max_length=30)
    request = models.JSONField()
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run_id", "seq"], name="internal_call_once")]
        indexes = [models.Index(fields=["contact_id"], name="internal_call_of_contact")]

    def __str__(self) -> str:
        return f"{self.kind} of run {self.run_id}"


class AppointmentReminder(models.Model):
    """A moment so many hours before an appointment, at which automations start. It is deleted when they have.

    Rescheduling makes new rows, and a cancellation deletes them.
    """

    appointment = models.ForeignKey(
        "appointments.Appointment", on_delete=models.CASCADE, related_name="+", db_index=False
    )
    hours = models.PositiveSmallIntegerField()
    due_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["appointment", "hours"], name="appointment_reminder_once_per_hours")
        ]
        indexes = [models.Index(fields=["due_at", "id"], name="appointment_reminder_due")]

    def __str__(self) -> str:
        return f"{self.hours} hours before appointment {self.appointment_id}"
