"""Paths of the workspace surface about channels."""

from config.api.routers import SurfaceRouter
from workspaces.subaccounts.api.workspace.views import ChannelViewSet

router = SurfaceRouter()
router.register("channels", ChannelViewSet, basename="channel")
urlpatterns = router.urls
