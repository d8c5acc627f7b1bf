"""A pod builds the kit of its reference in a container without a token; another one sends what that left."""

import os
from pathlib import Path

import pytest

from kexbench.agent.build import ARCHIVE, NOTE, Built, build
from kexbench.agent.environment import BuildContainer, BuilderPod
from kexbench.agent.send import send
from kexbench.client import ApiClient, Refused, token_in
from kexbench.domain.kits import SubjectRef
from kexbench.kits import KitError
from kexbench.kits.probe import PROBE_NAME
from kexbench.kits.transport import DamagedKit
from tests.agent.conftest import EXCLUSIVE, HERE, Service

pytestmark = pytest.mark.thorough

FAKE = SubjectRef.parse("fake@1.0")


def built(service: Service, reference: str, *, name: str = "builder-1") -> Path:
    """What the first container leaves."""
    folder = service.folder / f"{name}-built"
    folder.mkdir()
    container = BuildContainer(reference=reference, architecture=HERE, work=service.folder / name, built=folder)
    build(container, lambda _: None)
    return folder


def sent(service: Service, folder: Path, reference: str, *, name: str = "builder-1") -> list[str]:
    """What the second container said, in the pod of a reference."""
    token_file = service.admit(name, "builder", run_id="run", reference=reference, architecture=HERE)
    pod = BuilderPod(api_url=service.url, token_file=token_file, built=folder)
    link, said = ApiClient(pod.api_url, token_in(pod.token_file), print, patience_s=60, longest_wait_s=0.1), list[str]()
    service.clients.append(link)
    send(pod, link, said.append)
    return said


def supplied(service: Service, reference: str, *, name: str = "builder-1") -> list[str]:
    return sent(service, built(service, reference, name=name), reference, name=name)


def test_the_kit_of_a_reference_is_on_the_services_kit_store_with_its_probe_and_is_what_the_reference_means(
    service: Service,
) -> None:
    said = supplied(service, "fake@1.0")
    kit_store = service.shared_store.kit_store
    kit = kit_store.find(FAKE)
    assert kit is not None
    assert kit == service.fakes.add(FAKE)
    assert kit_store.verify(kit.kit_id) == ()
    assert (kit_store.folder(kit.kit_id) / PROBE_NAME).is_file()
    assert kit_store.made_of(FAKE, HERE) == service.fakes.made_of(FAKE, HERE)
    assert said[-1].startswith(f"sending kit {kit.kit_id}, ")


def test_built_again_by_another_pod_it_is_the_same_kit_once(service: Service) -> None:
    supplied(service, "fake@1.0")
    known = service.shared_store.kit_store.list()
    supplied(service, "fake@1.0", name="builder-2")
    assert service.shared_store.kit_store.list() == known


def test_with_the_kits_that_were_built_a_run_can_start(service: Service) -> None:
    plan = service.queued(EXCLUSIVE).plan
    assert service.shared_store.kits_of(plan, HERE) == {"fake@1.0": None, "fake@1.1": None}
    for subject in plan.subjects:
        supplied(service, subject.reference, name=f"builder-of-{subject.source}")
    found = service.shared_store.kits_of(plan, HERE)
    assert {reference: kit and kit.version for reference, kit in found.items()} == {
        "fake@1.0": "1.0",
        "fake@1.1": "1.1",
    }


def test_what_cannot_be_made_is_not_left_to_be_sent(service: Service) -> None:
    with pytest.raises(KitError, match="unknown setting"):
        supplied(service, "fake@1.0+speed=2")
    assert service.shared_store.kit_store.list() == ()
    assert list((service.shared_store.kit_store.root / "refs").iterdir()) == []
    assert list((service.folder / "builder-1-built").iterdir()) == []


def test_a_kit_of_another_reference_is_refused_whatever_the_build_left(service: Service) -> None:
    folder = built(service, "fake@1.0")
    with pytest.raises(Refused, match=r"is fake@1\.0 .* expected fake@1\.1"):
        sent(service, folder, "fake@1.1")
    assert service.shared_store.kit_store.list() == ()


@pytest.mark.parametrize("name", [NOTE, ARCHIVE])
@pytest.mark.parametrize("planted", ["link", "pipe", "folder", "nothing"])
def test_only_plain_files_of_a_build_are_read(service: Service, name: str, planted: str) -> None:
    """A link could lead to the token, which would go out with the kit."""
    folder = built(service, "fake@1.0")
    secret = service.folder / "secret"
    secret.write_bytes((folder / name).read_bytes())
    (folder / name).unlink()
    match planted:
        case "link":
            (folder / name).symlink_to(secret)
        case "pipe":
            os.mkfifo(folder / name)
        case "folder":
            (folder / name).mkdir()
    with pytest.raises(DamagedKit, match=f"left no regular file {name}"):
        sent(service, folder, "fake@1.0")
    assert service.shared_store.kit_store.list() == ()


def test_a_note_that_is_none_is_refused_before_anything_is_asked(service: Service) -> None:
    folder = built(service, "fake@1.0")
    odd = Built.model_construct(kit_id="../../runs", ingredients="a" * 32)
    (folder / NOTE).write_text(odd.model_dump_json())
    with pytest.raises(DamagedKit, match=r"built\.json of the build is invalid"):
        sent(service, folder, "fake@1.0")


def test_the_container_that_builds_is_given_neither_the_token_nor_where_the_api_is() -> None:
    assert set(BuildContainer.model_fields) == {"reference", "architecture", "work", "built"}
