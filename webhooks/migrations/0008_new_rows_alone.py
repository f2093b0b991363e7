"""The index of deliveries that are new in the queue is told apart from that of an endpoint's ready deliveries."""

from django.db import migrations, models
from django.db.models import Case, F, Q, When
from django.db.models.lookups import IsNull

READY_AT = Case(When(is_ready=True, then=F("position")))


class Migration(migrations.Migration):
    dependencies = [("webhooks", "0007_open_endpoints_of_workspaces")]

    operations = [
        migrations.RemoveIndex("queueddelivery", "queued_new"),
        migrations.AddIndex(
            "queueddelivery",
            models.Index(READY_AT, condition=Q(IsNull(READY_AT, False)), name="queued_new"),
        ),
    ]
