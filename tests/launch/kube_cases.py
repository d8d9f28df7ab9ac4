"""A Kubernetes API server on loopback with a Dask operator behind it: a pod is a process of this machine.

It speaks real HTTP and the port-forward protocol over websockets, and runs the containers' own arguments.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from aiohttp import ClientConnectionResetError, WSMsgType, web

BIN = Path(sys.executable).parent
Resource = dict[str, Any]


def kubeconfig(path: Path, server: str) -> Path:
    entry = {"name": "test"}
    context = {"context": {"cluster": "test", "user": "test", "namespace": "models"}}
    config = {"clusters": [entry | {"cluster": {"server": server}}], "contexts": [entry | context]}
    path.write_text(json.dumps(config | {"users": [entry | {"user": {}}], "current-context": "test"}))
    return path


def selected(resource: Resource, selector: str | None) -> bool:
    """Does a resource match app=x,metadata.name=y? Labels have slashes in their names, fields have dots."""
    for term in filter(None, (selector or "").split(",")):
        name, _, wanted = term.replace("==", "=").partition("=")
        if name.startswith(("metadata.", "status.")):
            part, key = name.split(".")
            found = resource[part].get(key)
        else:
            found = resource["metadata"].get("labels", {}).get(name)
        if found != wanted:
            return False
    return True


@dataclass
class Pods:
    """The scheduler and the workers of one DaskCluster, as processes."""

    cluster: Resource
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)
    ports: dict[int, int] = field(default_factory=dict)

    def start(self, folder: Path) -> None:
        file = folder / "scheduler.json"
        places = ["--port", "0", "--dashboard-address", "127.0.0.1:0", "--scheduler-file", str(file)]
        self._run(self.cluster["spec"]["scheduler"], places, {})
        address, dashboard = self._wait_for(file)
        self.ports = {8786: urlsplit(address).port or 0, 8787: dashboard}
        for number in range(self.cluster["spec"]["worker"]["replicas"]):
            env = {"DASK_SCHEDULER_ADDRESS": f"tcp://127.0.0.1:{self.ports[8786]}", "DASK_WORKER_NAME": f"pod-{number}"}
            self._run(self.cluster["spec"]["worker"], [], env)

    def _run(self, template: Resource, more: list[str], env: dict[str, str]) -> None:
        [container] = template["spec"]["containers"]
        env = {entry["name"]: entry["value"] for entry in container["env"]} | env
        command, *arguments = [*container["args"], *more]
        for name, value in env.items():
            arguments = [argument.replace(f"$({name})", value) for argument in arguments]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.processes.append(subprocess.Popen([str(BIN / command), *arguments], env=os.environ | env, **quiet))

    def _wait_for(self, file: Path) -> tuple[str, int]:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            with suppress(FileNotFoundError, json.JSONDecodeError):
                found = json.loads(file.read_text())
                return found["address"], found["services"]["dashboard"]
            time.sleep(0.1)
        raise AssertionError("the scheduler does not start")

    def end(self) -> None:
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            process.wait(timeout=60)


@dataclass
class FakeKubernetes:
    """What it was asked for, and what it shall do."""

    folder: Path
    url: str = ""
    operator_runs: bool = True
    image_can_be_pulled: bool = True
    refusal: str | None = None
    created: list[Resource] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    resources: dict[str, list[Resource]] = field(default_factory=dict)
    pods: Pods | None = None

    def application(self) -> web.Application:
        app = web.Application()
        app.router.add_get("/version/", answering({"gitVersion": "v1.33.0"}))
        kinds = [{"name": "pods", "kind": "Pod", "singularName": "pod", "namespaced": True}]
        app.router.add_get("/api/", answering({"versions": ["v1"]}))
        app.router.add_get("/api/v1", answering({"resources": kinds}))
        app.router.add_get("/apis/", answering({"groups": []}))
        for group in ("/api/v1", "/apis/kubernetes.dask.org/v1"):
            plural = group + "/namespaces/{namespace}/{plural}"
            app.router.add_get(plural, self.list)
            app.router.add_post(plural, self.create)
            app.router.add_get(plural + "/{name}", self.get)
            app.router.add_delete(plural + "/{name}", self.delete)
            app.router.add_get(plural + "/{name}/portforward", self.forward)
        return app

    def found(self, request: web.Request) -> list[Resource]:
        wanted = {"name": request.match_info.get("name"), "namespace": request.match_info["namespace"]}
        return [
            resource
            for resource in self.resources.get(request.match_info["plural"], [])
            if all(value in (None, resource["metadata"].get(key)) for key, value in wanted.items())
            and selected(resource, request.query.get("labelSelector"))
            and selected(resource, request.query.get("fieldSelector"))
        ]

    async def list(self, request: web.Request) -> web.Response:
        return web.json_response({"kind": "List", "metadata": {}, "items": self.found(request)})

    async def get(self, request: web.Request) -> web.Response:
        found = self.found(request)
        return web.json_response(found[0]) if found else refused(404, "not found")

    async def create(self, request: web.Request) -> web.Response:
        if self.refusal:
            return refused(403, self.refusal)
        body = await request.json()
        self.created.append(body)
        kept = body | {"metadata": body["metadata"] | {"namespace": request.match_info["namespace"]}}
        self.resources.setdefault(request.match_info["plural"], []).append(kept)
        if self.operator_runs:
            await asyncio.to_thread(self.operate, kept)
        return web.json_response(kept, status=201)

    def operate(self, cluster: Resource) -> None:
        """What the operator and Kubernetes do once they see a DaskCluster."""
        name, namespace = cluster["metadata"]["name"], cluster["metadata"]["namespace"]
        labels = {"dask.org/cluster-name": name, "dask.org/component": "scheduler"}
        about = {"name": f"{name}-scheduler", "namespace": namespace, "labels": labels}
        ready = [{"type": "Ready", "status": "True"}, {"type": "ContainersReady", "status": "True"}]
        pod = {"kind": "Pod", "metadata": about, "status": {"phase": "Pending", "conditions": []}}
        if self.image_can_be_pulled:
            self.pods = Pods(cluster)
            self.pods.start(self.folder)
            pod["status"] = {"phase": "Running", "conditions": ready}
        service = {"kind": "Service", "metadata": about, "spec": cluster["spec"]["scheduler"]["service"], "status": {}}
        self.resources |= {"pods": [pod], "services": [service]}
        cluster["status"] = {"phase": "Running"}

    async def delete(self, request: web.Request) -> web.Response:
        found = self.found(request)
        if not found:
            return refused(404, "not found")
        self.deleted.append(request.match_info["name"])
        self.resources = {}
        if self.pods:
            await asyncio.to_thread(self.pods.end)
        return web.json_response(found[0])

    async def forward(self, request: web.Request) -> web.WebSocketResponse:
        """Channel 0 carries bytes, channel 1 errors; both begin with the number of the port."""
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        port = int(request.query["ports"])
        for channel in (b"\x00", b"\x01"):
            await socket.send_bytes(channel + port.to_bytes(2, "little"))
        assert self.pods
        reader, writer = await asyncio.open_connection("127.0.0.1", self.pods.ports[port])
        back = asyncio.create_task(relay(reader, socket))
        async for message in socket:
            if message.type is WSMsgType.BINARY:
                writer.write(message.data[1:])
                await writer.drain()
        back.cancel()
        writer.close()
        return socket


async def relay(reader: asyncio.StreamReader, socket: web.WebSocketResponse) -> None:
    with suppress(ClientConnectionResetError, ConnectionError):
        while data := await reader.read(2**16):
            await socket.send_bytes(b"\x00" + data)
        await socket.close()


def answering(body: Resource) -> Callable[[web.Request], Awaitable[web.Response]]:
    async def answer(request: web.Request) -> web.Response:
        return web.json_response(body)

    return answer


def refused(status: int, message: str) -> web.Response:
    return web.json_response({"kind": "Status", "status": "Failure", "message": message}, status=status)


@contextmanager
def fake_kubernetes() -> Iterator[FakeKubernetes]:
    """Serves in a thread until the block ends; no process outlives it."""
    with tempfile.TemporaryDirectory() as folder:
        fake = FakeKubernetes(Path(folder))
        loop = asyncio.new_event_loop()
        thread = threading.Thread(target=loop.run_forever, daemon=True)
        thread.start()
        runner = asyncio.run_coroutine_threadsafe(serve(fake), loop).result(timeout=30)
        try:
            yield fake
        finally:
            asyncio.run_coroutine_threadsafe(runner.cleanup(), loop).result(timeout=30)
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.close()
            if fake.pods:
                fake.pods.end()


async def serve(fake: FakeKubernetes) -> web.AppRunner:
    runner = web.AppRunner(fake.application(), shutdown_timeout=1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    fake.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    return runner
