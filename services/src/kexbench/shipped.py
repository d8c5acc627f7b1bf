"""What comes with kexbench besides its modules: beside them in a wheel, around them in a checkout."""

from pathlib import Path

_IN_WHEEL = Path(__file__).parent / "shipped"
ROOT = _IN_WHEEL if _IN_WHEEL.is_dir() else Path(__file__).parents[3]
"""Has the paths of a checkout, such as `bench-specs/quickstart.yaml`."""
_SPECS = ROOT / "bench-specs"
_NOT_SPECS = frozenset({"libraries"})


def shipped_specs() -> dict[str, Path]:
    """Specs by their names, such as `quickstart` and `articles/zero-rtt`: the path below `bench-specs`, bare."""
    paths = [*_SPECS.glob("*.yaml"), *_SPECS.glob("articles/*.yaml")]
    names = {path.relative_to(_SPECS).with_suffix("").as_posix(): path for path in sorted(paths)}
    return {name: path for name, path in names.items() if name not in _NOT_SPECS}


def shipped_mixes() -> dict[str, Path]:
    """Mixes of connections by their names, such as `mixes/web`."""
    return {f"mixes/{path.stem}": path for path in sorted(_SPECS.glob("mixes/*.yaml"))}


def shipped_file(name: str) -> Path | None:
    """The file of a spec or mix that comes with kexbench."""
    return {**shipped_specs(), **shipped_mixes()}.get(name)
