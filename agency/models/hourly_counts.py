"""How often something happened at an agency in an hour, counted once the hour is over."""

from django.db import models

from agency.models.agencies import Agency


class HourlyCount(models.Model):
    """The number of a counter `name` (`agency.services.hourly_counts`) in an hour; zero has no row."""

    agency = models.ForeignKey(Agency, on_delete=models.CASCADE, db_index=False, related_name="hourly_counts")
    name = models.CharField(max_length=40)
    hour = models.DateTimeField()
    number = models.IntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["agency", "name", "hour"], name="hourly_count_once"),
            models.CheckConstraint(condition=models.Q(number__gte=0), name="hourly_count_is_not_negative"),
        ]
        indexes = [models.Index(fields=["hour"], name="hourly_count_by_age")]

    def __str__(self) -> str:
        return f"{self.number} {self.name} at {self.hour}"


class CounterState(models.Model):
    """How far a counter has come: hours before `counted_until` are counted.

    `position` is the counted table's newest id at the last run that left no hour uncounted, `previous_position` its
    newest id at such a run before. The rows of the hours that are counted next have larger ids than
    `previous_position`.
    """

    name = models.CharField(max_length=40, primary_key=True)
    counted_until = models.DateTimeField()
    position = models.BigIntegerField(default=0)
    previous_position = models.BigIntegerField(default=0)

    def __str__(self) -> str:
        return f"{self.name} until {self.counted_until}"
