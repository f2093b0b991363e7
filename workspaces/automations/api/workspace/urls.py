"""Paths of the workspace surface about automations."""

from config.api.routers import SurfaceRouter
from workspaces.automations.api.workspace.views import AutomationViewSet

router = SurfaceRouter()
router.register("automations", AutomationViewSet, basename="automation")
urlpatterns = router.urls
