"""What a wheel and an sdist have beside the modules, below `kexbench/shipped` with its place in a checkout: the
dashboard as built, the worker's sources, the specs with their schemas, and the scorecard."""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SHIPPED = (
    "frontend/dist/**/*",
    "workers/handshake/Makefile",
    "workers/handshake/*.[chm]*",
    "workers/handshake/go/go.mod",
    "workers/handshake/go/*.go",
    "workers/handshake/go/*.c",
    "workers/handshake/rustls/Cargo.toml",
    "workers/handshake/rustls/src/*.rs",
    "workers/bfe/Makefile",
    "workers/bfe/*.[ch]",
    "workers/bfe/blst.sh",
    "bench-specs/**/*.yaml",
    "bench-specs/schema/*.schema.json",
    "docs/results/scorecards/*.csv",
    "README.md",
    "LICENSE",
    "CHANGELOG.md",
)


class Shipped(BuildHookInterface):  # type: ignore[type-arg]
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """A wheel that is made from an sdist has them from there, and an editable installation reads the checkout."""
        checkout = Path(self.root).parent
        if version == "editable" or Path(self.root, "src/kexbench/shipped").is_dir():
            return
        if not (checkout / "frontend/dist/index.html").is_file():
            raise FileNotFoundError("the dashboard is not built: make frontend")
        folder = "kexbench/shipped" if self.target_name == "wheel" else "src/kexbench/shipped"
        for pattern in SHIPPED:
            for path in sorted(checkout.glob(pattern)):
                if path.is_file():
                    build_data["force_include"][str(path)] = f"{folder}/{path.relative_to(checkout).as_posix()}"
