"""A builder's pod sends the kit of its reference, and says that it means it."""

import pytest

from kexbench.agent.build import build
from kexbench.agent.environment import BuilderPod
from kexbench.domain.kits import SubjectRef
from kexbench.kits import KitError
from kexbench.kits.probe import PROBE_NAME
from kexbench.uplink import Uplink
from tests.agent.conftest import EXCLUSIVE, HERE, Service

FAKE = SubjectRef.parse("fake@1.0")


def built(service: Service, reference: str, *, name: str = "builder-1") -> list[str]:
    """What the pod said."""
    run_id = "run"
    pod = BuilderPod(
        api_url=service.url,
        token_file=service.admit(name, "builder", run_id=run_id),
        run_id=run_id,
        work=service.folder / name,
        reference=reference,
        architecture=HERE,
    )
    link, said = Uplink(pod.api_url, pod.token_file, print, patience_s=60, longest_wait_s=0.1), list[str]()
    service.uplinks.append(link)
    build(pod, link, said.append)
    return said


def test_the_kit_of_a_reference_is_on_the_services_shelf_with_its_probe_and_is_what_the_reference_means(
    service: Service,
) -> None:
    said = built(service, "fake@1.0")
    shelf = service.depot.shelf
    kit = shelf.find(FAKE)
    assert kit is not None
    assert kit == service.fakes.add(FAKE)
    assert shelf.verify(kit.kit_id) == ()
    assert (shelf.folder(kit.kit_id) / PROBE_NAME).is_file()
    assert shelf.made_of(FAKE, HERE) == service.fakes.made_of(FAKE, HERE)
    assert said[-1].startswith(f"sending {kit.folder_name}, ")


def test_built_again_by_another_pod_it_is_the_same_kit_once(service: Service) -> None:
    built(service, "fake@1.0")
    known = service.depot.shelf.list()
    built(service, "fake@1.0", name="builder-2")
    assert service.depot.shelf.list() == known


def test_with_the_kits_that_were_built_a_run_can_start(service: Service) -> None:
    plan = service.queued(EXCLUSIVE).plan
    assert service.depot.kits_of(plan, HERE) == {"fake@1.0": None, "fake@1.1": None}
    for subject in plan.subjects:
        built(service, subject.reference, name=f"builder-of-{subject.source}")
    found = service.depot.kits_of(plan, HERE)
    assert {reference: kit and kit.version for reference, kit in found.items()} == {
        "fake@1.0": "1.0",
        "fake@1.1": "1.1",
    }


def test_what_cannot_be_made_is_not_sent(service: Service) -> None:
    with pytest.raises(KitError, match="unknown setting"):
        built(service, "fake@1.0+speed=2")
    assert service.depot.shelf.list() == ()
    assert list((service.depot.shelf.root / "refs").iterdir()) == []
