"""An empty endpoint of the service's framework: takes a body, answers as many bytes as the path says."""

import sys

import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import Response

app = FastAPI(openapi_url=None)
_BODIES: dict[int, bytes] = {}


@app.post("/empty/{size}")
async def empty(size: int, request: Request) -> Response:
    """As many bytes as were asked for, after the body was read."""
    await request.body()
    body = _BODIES.setdefault(size, b"x" * size)
    return Response(body, media_type="application/json")


if __name__ == "__main__":
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="warning", access_log=False)
