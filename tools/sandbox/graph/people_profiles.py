"""Profiles of people who write to Pages and Instagram accounts. Their ids begin with 9."""

from tools.sandbox.graph.errors import Refused
from tools.sandbox.graph.tokens import Token
from tools.sandbox.http_messages import Request, Response, json_response
from tools.sandbox.state import SandboxState


def profile(state: SandboxState, request: Request, token: Token, key: str) -> Response:
    """Give a person's profile: an empty one if the id ends in 00, an error if it ends in 18."""
    if key.endswith("00"):
        return json_response({})
    if key.endswith("18"):
        raise Refused("no_profile")
    picture = {"profile_pic": f"{state.own_url}/media-files/{key}/cdn"}
    if "username" in request.text("fields"):
        return json_response({"id": key, "name": "Ann Sample", "username": f"ann.{key[-3:]}"} | picture)
    return json_response({"id": key, "first_name": "Ann", "last_name": "Sample"} | picture)
