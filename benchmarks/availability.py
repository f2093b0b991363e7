"""Measures how long it takes to find the free times of a month, for one person and for fifty."""

import random
import time
from datetime import datetime, timedelta
from statistics import median
from typing import Final

from django.db import connection
from django.utils import timezone

from agency.actors import SYSTEM
from benchmarks.contacts.rows import a_workspace
from benchmarks.figures import Figure
from benchmarks.servers import Bench
from config.postgresql.arrays import integers, timestamps
from workspaces.appointments.services.availability import free_times
from workspaces.appointments.services.hours import set_working_hours
from workspaces.catalogue.models import Service, Staff
from workspaces.catalogue.services import create_service, create_staff
from workspaces.subaccounts.models.workspaces import DAYS

TITLE = "Free times of 30 days, every 15 minutes, where each person has 150 busy times: milliseconds, median of 15."
PEOPLE, MONTH, BUSY_A_DAY, ROUNDS = 50, 30, 5, 15
MOST_MS = 50.0
HOURS = range(8, 20)
FILL: Final = """
WITH busy AS (SELECT * FROM unnest(%(staff)s::bigint[], %(starts)s::timestamptz[]) AS busy (staff, start)),
made AS (
    INSERT INTO classes_classsession
        (uuid, workspace_id, service_id, staff_id, starts_at, ends_at, capacity, participants_count, status, created_at)
    SELECT gen_random_uuid(), %(workspace)s, %(service)s, staff, start, start + interval '45 minutes', 1, 0,
        'scheduled', now()
    FROM busy RETURNING id, staff_id, starts_at, ends_at
)
INSERT INTO appointments_occupancy (staff_id, during, class_session_id)
SELECT staff_id, tstzrange(starts_at, ends_at), id FROM made
"""


def run(_: Bench) -> list[Figure]:
    workspace, moment = a_workspace(), timezone.now()
    first = moment.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
    staff = [create_staff(workspace=workspace, name=f"Person {n}", now=moment, by=SYSTEM) for n in range(PEOPLE)]
    hours = {day: [[f"{HOURS[0]:02}:00", f"{HOURS[-1] + 1}:00"]] for day in DAYS}
    for one in staff:
        set_working_hours(staff=one, timezone="Europe/Berlin", weekly=hours, exceptions={}, now=moment, by=SYSTEM)
    of_one, of_all = (_service(people) for people in (staff[:1], staff))
    _fill(of_all, staff, first)
    (one, cpu_of_one), (all_of_them, cpu_of_all) = _milliseconds(of_one, first), _milliseconds(of_all, first)
    return [
        Figure(name="one person", measured=one, unit="ms"),
        Figure(name="one person, the process's own time", measured=cpu_of_one, unit="ms"),
        Figure(name=f"{PEOPLE} people", measured=all_of_them, unit="ms", at_most=MOST_MS),
        Figure(name=f"{PEOPLE} people, the process's own time", measured=cpu_of_all, unit="ms"),
    ]


def _service(staff: list[Staff]) -> Service:
    return create_service(
        workspace=staff[0].workspace,
        name=f"Of {len(staff)}",
        kind=Service.Kind.APPOINTMENT,
        duration_minutes=45,
        staff=staff,
        now=timezone.now(),
        by=SYSTEM,
    )


def _fill(service: Service, staff: list[Staff], first: datetime) -> None:
    """Keep each person busy at five hours of each day."""
    rng = random.Random(7)
    busy = [
        (one.pk, first + timedelta(days=day, hours=hour))
        for one in staff
        for day in range(MONTH)
        for hour in rng.sample(HOURS, BUSY_A_DAY)
    ]
    values = {
        "staff": integers(pk for pk, _ in busy),
        "starts": timestamps(start for _, start in busy),
        "workspace": service.workspace_id,
        "service": service.pk,
    }
    with connection.cursor() as cursor:
        cursor.execute(FILL, values)
        cursor.execute("ANALYZE appointments_occupancy")


def _milliseconds(service: Service, first: datetime) -> tuple[float, float]:
    """Return the time that passed, and the processor time of this process without the database's."""
    took = []
    for _ in range(ROUNDS):
        began = time.perf_counter(), time.process_time()
        found = free_times(
            workspace=service.workspace,
            service=service,
            first=first,
            last=first + timedelta(days=MONTH),
            now=timezone.now(),
        )
        took.append(((time.perf_counter() - began[0]) * 1_000, (time.process_time() - began[1]) * 1_000))
        assert found
    return median(passed for passed, _ in took), median(own for _, own in took)
