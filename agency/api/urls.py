"""Paths of the agency surface that the agency itself answers."""

from agency.api.views import AddonViewSet, PlanViewSet
from config.api.routers import SurfaceRouter

router = SurfaceRouter()
router.register("plans", PlanViewSet, basename="plan")
router.register("addons", AddonViewSet, basename="addon")
urlpatterns = router.urls
