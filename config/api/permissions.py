"""Closed by default: a view that belongs to no surface lets nobody in."""

from typing import TYPE_CHECKING

from rest_framework.permissions import BasePermission
from rest_framework.request import Request

if TYPE_CHECKING:  # at run time DRF's views read the setting that names this module while they are imported
    from rest_framework.views import APIView


class DenyAll(BasePermission):
    message = "This endpoint is closed."

    def has_permission(self, request: Request, view: "APIView") -> bool:
        return False
