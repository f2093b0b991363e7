"""The index of events that are new is told apart from that of a tenant's events to fan out."""

from django.db import migrations, models
from django.db.models import Case, F, Q, When
from django.db.models.lookups import IsNull

NEW_AT = Case(When(fanned_out_at=None, then=F("position")))


class Migration(migrations.Migration):
    dependencies = [("agency", "0009_sent_forms")]

    operations = [
        migrations.RemoveIndex("event", "event_new"),
        migrations.AddIndex("event", models.Index(NEW_AT, condition=Q(IsNull(NEW_AT, False)), name="event_new")),
    ]
