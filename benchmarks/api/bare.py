"""A list with the framework's defaults: `ListAPIView`, `ModelSerializer`, pages of 25, no key, no limit."""

from typing import TYPE_CHECKING, Any

from django.db.models import QuerySet
from rest_framework import generics, pagination, permissions, renderers, serializers

from agency.models import Plan
from workspaces.subaccounts.models import Workspace

if TYPE_CHECKING:
    _PlanSerializer = serializers.ModelSerializer[Plan]
    _WorkspaceSerializer = serializers.ModelSerializer[Workspace]
    _ListAPIView = generics.ListAPIView[Workspace]
    _Serializer = serializers.Serializer[Any]
else:
    _PlanSerializer = _WorkspaceSerializer = serializers.ModelSerializer
    _ListAPIView = generics.ListAPIView
    _Serializer = serializers.Serializer


class PlanSerializer(_PlanSerializer):
    class Meta:
        model = Plan
        fields = ("uuid", "name")


class OwnerSerializer(_Serializer):
    name = serializers.CharField(source="owner_name")
    email = serializers.EmailField(source="owner_email")


class WorkspaceSerializer(_WorkspaceSerializer):
    plan = PlanSerializer()
    owner = OwnerSerializer(source="*")

    class Meta:
        model = Workspace
        fields = ("uuid", "name", "status", "plan", "owner", "business_type", "timezone", "created_at", "suspended_at")


class Pages(pagination.PageNumberPagination):
    page_size = 25


class BareList(_ListAPIView):
    """The same fields of the same rows; the agency is given with the path, as there is no key."""

    authentication_classes = ()
    permission_classes = (permissions.AllowAny,)
    renderer_classes = (renderers.JSONRenderer,)
    serializer_class = WorkspaceSerializer
    pagination_class: type[Pages] | None = Pages

    def get_queryset(self) -> "QuerySet[Workspace]":
        found: QuerySet[Workspace] = Workspace.objects.filter(agency_id=self.kwargs["agency"])
        return found.select_related("plan").order_by("-created_at", "-id")


class UnpaginatedBareList(BareList):
    """Not even pages: the newest 25, uncounted."""

    pagination_class = None

    def get_queryset(self) -> "QuerySet[Workspace]":
        return super().get_queryset()[:25]
