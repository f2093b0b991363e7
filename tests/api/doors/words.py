"""What the doors' writes understand."""

from typing import Any

from rest_framework import serializers

from config.api.fields import Choice, Email, Flag, Items, Text, Uuid, Zone
from config.api.words import Words


class Owner(Words):
    name = Text(max_length=20)
    email = Email()


class ThingWords(Words):
    name = Text(max_length=20)
    note = Text(max_length=40, multiline=True, required=False, allow_blank=True)
    owner = Owner(required=False)
    plan = Uuid(required=False, allow_null=True)
    business_type = Choice(choices=["retail", "other"], required=False)
    enabled = Flag(required=False)
    timezone = Zone(default="UTC")
    order = Items(child=Uuid(), max_length=3, distinct=True, required=False)
    events = Items(child=Text(max_length=10), max_length=3, min_length=1, required=False)


class Thing(serializers.Serializer[Any]):
    """A thing as the doors show it."""

    number = serializers.IntegerField()
