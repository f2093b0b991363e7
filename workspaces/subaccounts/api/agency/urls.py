"""Paths of the agency surface about sub-accounts."""

from config.api.routers import SurfaceRouter
from workspaces.subaccounts.api.agency.views import HeldAddonViewSet, SubAccountChannelViewSet, SubAccountViewSet

router = SurfaceRouter()
router.register("workspaces", SubAccountViewSet, basename="workspace")
router.register("workspaces/<id:workspace>/addons", HeldAddonViewSet, basename="workspace-addon")
router.register("workspaces/<id:workspace>/channels", SubAccountChannelViewSet, basename="workspace-channel")
urlpatterns = router.urls
