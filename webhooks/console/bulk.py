"""The console's bulk actions on deliveries."""

from typing import Final

from django.utils.translation import gettext_lazy as _

from agency.pages.forms import ConfirmationForm
from agency.services.bulk import BulkAction, BulkCall, BulkTargets
from webhooks.console import chosen
from webhooks.models import Delivery
from webhooks.services import DeliveryNotFound, redeliver
from webhooks.services.log import MOST_COUNTED

TARGETS: Final = BulkTargets(
    name="deliveries",
    label=_("Deliveries"),
    url_name="console:webhooks",
    most=MOST_COUNTED,
    count=chosen.count,
    walk=chosen.walk,
    shown=chosen.shown,
)


def _redeliver(call: BulkCall) -> bool:
    own = Delivery.objects.of(call.agency).select_related("endpoint", "event")
    delivery = own.filter(pk=call.target_id).first()
    if delivery is None:
        raise DeliveryNotFound
    redeliver(delivery=delivery, now=call.now, by=call.by)
    return True


ACTIONS: Final = (
    BulkAction(
        name="deliveries.redeliver",
        targets=TARGETS,
        label=_("Redeliver"),
        text=_("Each envelope is sent once more, with the same id, to the same webhook."),
        apply=_redeliver,
        make_form=lambda _agency, data: ConfirmationForm(data),
    ),
)
