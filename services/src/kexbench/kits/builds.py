"""A cache of builds. Each appears complete or not at all, named after everything that determines it."""

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from kexbench.kits.process import Attempt
from kexbench.locks import locked


@dataclass(frozen=True)
class BuildCache:
    """Installed builds, one folder each."""

    folder: Path

    def built(self, name: str, build: Callable[[Path], None], attempt: Attempt) -> Path:
        """The folder of the build `name`. If it isn't cached, `build` installs it into a new folder."""
        target = self.folder / name
        with locked(self.folder / f".{name}.lock", attempt.note, attempt.go_on):
            if target.is_dir():
                return target
            installed = attempt.scratch / f"installed-{name}"
            installed.mkdir()
            build(installed)
            partial = self.folder / f".{name}"  # the cache may be on another file system
            shutil.rmtree(partial, ignore_errors=True)
            shutil.copytree(installed, partial, symlinks=True)
            os.sync()  # a power cut must not leave a build whose files are empty
            partial.rename(target)
            shutil.rmtree(installed)
        return target
