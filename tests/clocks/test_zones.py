"""A broadcast at each contact's own nine o'clock: a day on earth within seconds. Full size has every time zone."""

import random
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo, available_timezones

from tests.channelconnect.sending.messages import NUMBERS, a_channel
from tests.clocks.moved import MovedClock
from tests.clocks.sending import (
    Sent,
    approve_template,
    ask,
    import_contacts,
    schedule,
    sent_by,
    start_sending,
    wait_until_all_are_at_work,
)
from tests.sizes import size
from tests.tenants import Tenant
from tests.waiting import until
from tools.sandbox import RunningSandbox
from workspaces.contacts.models import Contact
from workspaces.subaccounts.models import Channel, Workspace

# Of each moment so many zones, as far as there are so many.
ZONES_EACH: Final = 3
MOMENTS: Final = size("zones", "moments")
LEAD: Final = timedelta(seconds=0.1)
# A zone that is over for longer when a broadcast begins is skipped.
STILL_SENT: Final = timedelta(hours=1)
OWN_ZONE: Final = "Africa/Lagos"
# What is sent before the story begins.
FIRST: Final = 1
# A number of Russia, which has many zones: it does not say in which one.
WITHOUT_ZONE: Final = "+79161234567"


def moments_of(wall: datetime) -> dict[datetime, list[str]]:
    """Give the zones of each moment at which clocks show a time, which no clock skips or shows twice."""
    found: dict[datetime, list[str]] = {}
    for zone in sorted(available_timezones()):
        found.setdefault(wall.replace(tzinfo=ZoneInfo(zone)).astimezone(UTC), []).append(zone)
    return {moment: found[moment][:ZONES_EACH] for moment in some_of(sorted(found), wall)}


def own_moment(wall: datetime) -> datetime:
    """When a clock of the sub-account's own zone shows a time."""
    return wall.replace(tzinfo=ZoneInfo(OWN_ZONE)).astimezone(UTC)


def some_of(moments: list[datetime], wall: datetime) -> list[datetime]:
    """Choose moments: the first and the last one, the own one, one of each minute of an hour, and others by chance."""
    chance = random.Random(5)
    of_minutes = {moment.minute: moment for moment in chance.sample(moments, len(moments))}
    chosen = {moments[0], moments[-1], own_moment(wall), *of_minutes.values()}
    others = [moment for moment in moments if moment not in chosen]
    return sorted(chosen | {*chance.sample(others, MOMENTS - len(chosen))})


def at_their_own_time(a: Tenant, channel: Channel, wall: datetime, **fields: Any) -> dict[str, Any]:
    """Schedule a broadcast to everybody by their own clock."""
    at = f"{wall:%Y-%m-%d %H:%M:%S}"
    return schedule(a, channel, timezone_mode="contact", scheduled_local_at=at, **fields)


class Story:
    """Two broadcasts at nine o'clock: one on time, and one that is approved when half of the world has passed it."""

    def __init__(self, a: Tenant, sandbox: RunningSandbox, clock: MovedClock) -> None:
        self.a, self.sandbox, self.clock = a, sandbox, clock
        day = datetime.now(UTC) + timedelta(days=3)
        wall = day.replace(hour=9, minute=0, second=0, microsecond=0, tzinfo=None)
        zones = moments_of(wall)
        self.moments = list(zones)
        numbered = enumerate(((moment, zone) for moment in zones for zone in zones[moment]), start=1)
        people = {f"+49151{12_340_000 + number}": where for number, where in numbered}
        import_contacts(a, ({"phone": phone, "timezone": zone} for phone, (_, zone) in people.items()))
        import_contacts(a, [{"phone": WITHOUT_ZONE}])
        assert Contact.objects.get(phone=WITHOUT_ZONE).timezone is None
        Workspace.objects.filter(pk=a.workspace.pk).update(timezone=OWN_ZONE)
        self.people = {phone: moment for phone, (moment, _) in people.items()}
        self.people[WITHOUT_ZONE] = own_moment(wall)
        self.channels = [a_channel(a.workspace, sandbox, external_id=number) for number in NUMBERS]
        approve_template()
        self.on_time = at_their_own_time(a, self.channels[0], wall)
        self.late = at_their_own_time(a, self.channels[1], wall, requires_approval=True)
        # When somebody is due to be sent to: by the number that sends to them, and theirs.
        self.due = {(NUMBERS[0], phone): moment for phone, moment in self.people.items()}

    def shown(self, broadcast: dict[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = ask(self.a, f"/broadcasts/{broadcast['id']}")
        return found

    def wait_for_all_until(self, moment: datetime) -> None:
        """Wait until everybody has been sent to who is due by this moment."""
        expected = FIRST + sum(due <= moment for due in self.due.values())
        until(lambda: self.sandbox.ledger()["sent_total"] >= expected, what=f"those of {moment}", every=0.05)

    def approve_the_late_one(self, moment: datetime) -> datetime:
        """Approve it at this moment; gives when it began."""
        self.clock.move_to(moment)
        ask(self.a, f"/broadcasts/{self.late['id']}/approve", {})
        began: str = until(lambda: self.shown(self.late)["started_at"], what="the late broadcast", every=0.5)
        started_at = datetime.fromisoformat(began)
        self.due |= {
            (NUMBERS[1], phone): max(moment, started_at)
            for phone, moment in self.people.items()
            if moment > started_at - STILL_SENT
        }
        self.wait_for_all_until(started_at)
        return started_at

    def ends(self, broadcast: dict[str, Any]) -> dict[str, Any]:
        """Wait until a broadcast is through; gives its counts that are not zero."""
        until(lambda: self.shown(broadcast)["status"] == "sent", what="the end", every=0.5)
        return {name: number for name, number in self.shown(broadcast)["counts"].items() if number}

    def skipped(self) -> dict[str, str]:
        rows = ask(self.a, f"/broadcasts/{self.late['id']}/recipients?status=skipped&per_page=100")
        return {row["contact"]["phone"]: row["skip_reason"] for row in rows}


def test_each_zone_is_sent_to_at_its_own_moment(a: Tenant, meta: RunningSandbox, clock: MovedClock) -> None:
    """Nobody before it, and everybody while the clock goes on by itself: it is moved when all have been sent to."""
    story = Story(a, meta, clock)
    assert len(story.moments) == MOMENTS
    assert datetime.fromisoformat(story.on_time["scheduled_at"]) == story.moments[0]
    waves = ask(a, f"/broadcasts/{story.on_time['id']}/preview", {})["waves"]
    assert [datetime.fromisoformat(wave["at"]) for wave in waves] == story.moments

    clock.move_to(story.moments[0] - timedelta(minutes=5))
    start_sending(clock, meta)
    wait_until_all_are_at_work(a, story.channels[0], WITHOUT_ZONE)
    approved_after = story.moments[MOMENTS // 2]
    for moment in story.moments:
        clock.move_to(moment - LEAD)
        story.wait_for_all_until(moment)
        if moment == approved_after:
            started_at = story.approve_the_late_one(moment + timedelta(minutes=10))

    log = sent_by(meta)[FIRST:]
    assert sorted((one.account, one.to) for one in log) == sorted(story.due)
    assert {one: delay for one in log if (delay := delay_of(one, story.due)) < timedelta()} == {}
    passed = {phone for phone, moment in story.people.items() if moment <= started_at - STILL_SENT}
    assert story.ends(story.on_time) == {"sent": len(story.people)}
    assert story.ends(story.late) == {"sent": len(story.people) - len(passed), "skipped": len(passed)}
    assert story.skipped() == dict.fromkeys(passed, "local_time_passed")
    assert 0 < len(passed) < len(story.people)


def delay_of(one: Sent, due: dict[tuple[str, str], datetime]) -> timedelta:
    return one.at - due[one.account, one.to]
