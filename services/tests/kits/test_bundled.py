"""The source of Bloom filter encryption: this repository's own folder, or a remedy."""

from pathlib import Path

import pytest

from kexbench.domain.kits import SubjectRef
from kexbench.kits.bundled import BundledProvider
from kexbench.kits.errors import StepFailed
from kexbench.kits.process import Attempt

BUNDLED = SubjectRef.parse("bfe@bundled")


def attempt_in(folder: Path) -> Attempt:
    return Attempt(folder, folder / "log", lambda _: None)


def test_it_provides_its_own_library_from_its_own_source_only(tmp_path: Path) -> None:
    provider = BundledProvider(tmp_path, tmp_path)
    named = ("bfe@bundled", "bfe@system", "openssl@bundled", "gnutls@system")
    assert [name for name in named if provider.provides(SubjectRef.parse(name))] == ["bfe@bundled"]


def test_without_its_sources_a_checkout_is_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(StepFailed, match="no sources of Bloom filter encryption") as raised:
        BundledProvider(tmp_path / "absent", tmp_path).resolve(BUNDLED, attempt_in(tmp_path), refresh=False)
    assert raised.value.remedy == "use a checkout of kexbench"


@pytest.mark.parametrize(("variant", "reason"), [("+no-asm", "takes no flags: no-asm"), ("+relink=1", "be relinked")])
def test_a_variant_that_would_change_nothing_is_refused(variant: str, reason: str, tmp_path: Path) -> None:
    ref = SubjectRef.parse(f"bfe@bundled{variant}")
    with pytest.raises(StepFailed, match=reason):
        BundledProvider(tmp_path, tmp_path).resolve(ref, attempt_in(tmp_path), refresh=False)
