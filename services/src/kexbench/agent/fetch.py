"""Fetches the inputs of a job into its pod and checks their hashes."""

from collections.abc import Callable

from kexbench.agent.environment import JobPod
from kexbench.client import ApiClient
from kexbench.domain.dimensions import TrustStore
from kexbench.domain.kits import KitManifest
from kexbench.files import write_whole
from kexbench.kits.transport import DamagedKit, unpack
from kexbench.material.hashed import lay_out
from kexbench.runner.job_input import JobOrder


def fetch(pod: JobPod, api: ApiClient, say: Callable[[str], None]) -> None:
    """Raises DamagedKit, Refused and Unreachable."""
    order = api.get(JobOrder, f"{pod.path}/order")
    for folder in (pod.kits, pod.material):
        folder.mkdir(parents=True, exist_ok=True)
    for kit in {kit.kit_id: kit for kit in order.kits.values()}.values():
        say(f"fetching {kit.folder_name}")
        _fetch_kit(pod, api, kit)
    for file in sorted({name for files in order.material.values() for name in files.names}):
        digest = api.download(f"/runs/{pod.run_id}/material/{file}", pod.material / file)
        if digest != file.partition(".")[0]:
            raise DamagedKit(f"material {file} has the wrong SHA-256 {digest}")
    for case in order.cases:
        if case.trust_store is TrustStore.FOLDER:
            lay_out(pod.material / order.material[case.case_id].trust_anchors_file)
    write_whole(pod.order_file, order.model_dump_json().encode())


def _fetch_kit(pod: JobPod, api: ApiClient, kit: KitManifest) -> None:
    target = pod.kits / kit.folder_name
    if target.exists():
        return
    archive = pod.kits / f"{kit.kit_id}.tar"
    api.download(f"/kits/{kit.kit_id}", archive)
    unpack(archive, kit.kit_id, pod.kits / f".{kit.kit_id}")
    (pod.kits / f".{kit.kit_id}").rename(target)
    archive.unlink()
