"""A pod gets all that its job needs, checks it, and gets nothing of another job's."""

import hashlib

import pytest

from kexbench.agent.fetch import fetch
from kexbench.client import Refused
from kexbench.kits import KitStore
from kexbench.kits.transport import DamagedKit
from kexbench.runner.job_input import JobOrder
from tests.agent.conftest import EXCLUSIVE, Service


def test_the_order_the_kits_and_the_material_of_a_job_are_in_its_pod(service: Service) -> None:
    run = service.started()
    pod = service.pod(run)
    pod.fetch()
    order = JobOrder.model_validate_json(pod.settings.order_file.read_bytes())
    assert order == JobOrder.of(run, run.plan.jobs[0])
    kits = KitStore(pod.settings.kits)
    assert {kit.kit_id for kit in kits.list()} == {kit.kit_id for kit in run.kits.values()}
    assert all(kits.verify(kit.kit_id) == () for kit in kits.list())
    assert {path.name for path in pod.settings.kits.iterdir()} == {kit.folder_name for kit in run.kits.values()}
    needed = {name for files in run.material.values() for name in files.names}
    assert {path.name for path in pod.settings.material.iterdir()} == needed
    for path in pod.settings.material.iterdir():
        assert hashlib.sha256(path.read_bytes()).hexdigest() == path.stem


def test_a_kit_that_is_there_is_not_fetched_again(service: Service) -> None:
    pod = service.pod(service.started())
    pod.fetch()
    before = {path.name: path.stat().st_ino for path in pod.settings.kits.iterdir()}
    pod.fetch()
    assert {path.name: path.stat().st_ino for path in pod.settings.kits.iterdir()} == before


def test_a_kit_that_was_damaged_on_its_kit_store_is_refused(service: Service) -> None:
    run = service.started()
    worker = service.shared_store.kit_store.folder(run.kits["fake@1.0"].kit_id) / "bin/worker"
    worker.chmod(0o755)
    worker.write_bytes(worker.read_bytes() + b"?")
    pod = service.pod(run)
    with pytest.raises(DamagedKit, match="do not match its manifest"):
        pod.fetch()
    assert not pod.settings.order_file.exists()
    assert run.kits["fake@1.0"].folder_name not in {path.name for path in pod.settings.kits.iterdir()}


def test_material_that_was_damaged_on_its_kit_store_is_refused(service: Service) -> None:
    run = service.started()
    files = next(iter(run.material.values()))
    (service.material / files.key).chmod(0o600)
    (service.material / files.key).write_bytes(b"another key")
    pod = service.pod(run)
    with pytest.raises(DamagedKit, match=f"material {files.key} has the wrong SHA-256"):
        pod.fetch()
    assert not pod.settings.order_file.exists()


def test_a_run_that_is_not_started_has_nothing_to_fetch(service: Service) -> None:
    pod = service.pod(service.queued(EXCLUSIVE))
    with pytest.raises(Refused, match="is not started: its kits are not known yet"):
        pod.fetch()


def test_a_pod_gets_nothing_of_another_job(service: Service) -> None:
    run = service.started()
    first, second = run.plan.jobs
    pod = service.pod(run, first)
    with pytest.raises(Refused, match=f"the token is for job {first.job_id}, not {second.job_id}"):
        fetch(pod.settings.model_copy(update={"job_id": second.job_id}), pod.api, pod.say)
