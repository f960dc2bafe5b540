"""What every answer of the page carries, and which requests get none: only this page may ask, and it loads nothing from elsewhere."""

from __future__ import annotations

import json
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["HOSTS", "Guard", "read_body"]

HOSTS = ["localhost", "127.0.0.1"]
"""The names of this machine under which the page answers: another name in Host is that of a stranger's site that points here."""
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


class Guard:
    """Adds the headers to every answer of ``app``."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One connection, as ASGI has it."""

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        await self.app(scope, receive, sent)


async def read_body(request: Request, most: int) -> dict[str, Any]:
    """The JSON object that the page sent. Raises HTTPException for what another site sent, for other kinds of body, for more than
    ``most`` bytes and for what is no JSON object."""
    _check_origin(request.headers)
    data = bytearray()
    async for chunk in request.stream():
        data += chunk
        if len(data) > most:
            raise HTTPException(413, f"more than {most:,} bytes")
    try:
        found = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise HTTPException(400, "the message is no JSON") from error
    if not isinstance(found, dict):
        raise HTTPException(400, "the message is no JSON object")
    return found


def _check_origin(headers: Headers) -> None:
    """A page of another site can only send kinds of body that forms have, and says where it is from."""
    if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise HTTPException(415, "send application/json")
    origin = headers.get("origin")
    if origin is not None and origin != f"http://{headers.get('host')}":
        raise HTTPException(403, "the question comes from another site")
