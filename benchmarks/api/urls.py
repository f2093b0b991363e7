"""The product's paths, the bare list, and the lists without some layers."""

from typing import Any

from django.urls import path

from benchmarks.api import bare, layers
from config.urls import urlpatterns as product

LIST: dict[str, Any] = {"get": "list"}

urlpatterns = [
    path("bench/bare/<int:agency>", bare.BareList.as_view()),
    path("bench/plainest/<int:agency>", bare.UnpaginatedBareList.as_view()),
    path("api/bench/open", layers.KeylessList.as_view(LIST)),
    path("api/bench/keyed", layers.KeyedList.as_view(LIST)),
    path("api/bench/limited", layers.LimitedList.as_view(LIST)),
    *product,
]
