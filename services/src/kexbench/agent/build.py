"""Builds the kit of one reference in a pod, and sends it."""

from collections.abc import Callable

from kexbench.agent.environment import BuilderPod
from kexbench.api.control_models import ReferenceMeaning
from kexbench.domain.kits import SubjectRef
from kexbench.kits.transport import pack
from kexbench.settings import Settings
from kexbench.uplink import Uplink
from kexbench.wiring import Installation


def build(pod: BuilderPod, api: Uplink, say: Callable[[str], None]) -> None:
    """Raises KitError, Refused and Unreachable."""
    reference = SubjectRef.parse(pod.reference)
    settings = Settings(home=pod.work / "home", cache=pod.work / "cache")
    shelf = Installation(settings).kits()
    kit = shelf.add(reference, say, architecture=pod.architecture)
    archive = pod.work / f"{kit.kit_id}.tar"
    pack(shelf.folder(kit.kit_id), archive)
    say(f"sending {kit.folder_name}, {archive.stat().st_size >> 20} MiB")
    api.send_file(f"/kits/{kit.kit_id}", archive)
    ingredients = shelf.made_of(reference, pod.architecture)
    assert ingredients is not None, "it was just made"
    meaning = ReferenceMeaning(
        reference=str(reference), architecture=pod.architecture, kit_id=kit.kit_id, ingredients=ingredients
    )
    api.send("PUT", "/references", meaning)
