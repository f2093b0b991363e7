"""Paths of the agency surface about webhooks."""

from config.api.routers import SurfaceRouter
from webhooks.api.agency.deliveries import DeliveryViewSet
from webhooks.api.agency.endpoints import WebhookViewSet

router = SurfaceRouter()
# Before the endpoints', whose ids would take any name.
router.register("webhooks/deliveries", DeliveryViewSet, basename="delivery")
router.register("webhooks", WebhookViewSet, basename="webhook")
urlpatterns = router.urls
