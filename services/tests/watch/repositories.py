"""Repositories of git itself for tests: a bare one as a forge has it, and a clone as a person has it."""

import subprocess
from pathlib import Path

from kexbench.domain.repositories import Repository

AUTHOR = ("-c", "user.name=Ada Example", "-c", "user.email=ada@example.org")
_CATALOGUE = """\
apiVersion: kexbench.dev/v1
kind: Catalogue
libraries:
  fake:
"""


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", *AUTHOR, *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


class Shared:
    """A bare repository and one person's clone of it."""

    def __init__(self, folder: Path) -> None:
        self.bare, self.clone = folder / "benchmarks.git", folder / "clone"
        git(folder, "init", "--quiet", "--bare", "--initial-branch=main", str(self.bare))
        git(folder, "clone", "--quiet", str(self.bare), str(self.clone))

    def watched(self, *branches: str, name: str = "benchmarks", specs: str = "bench-specs") -> Repository:
        return Repository(
            name=name,
            url=str(self.bare),
            branches=branches or ("main",),
            specs=specs,
            catalogue=f"{specs}/libraries.yaml",
        )

    def commit(self, files: dict[str, str | bytes | None], message: str = "a change") -> str:
        """Write files, or delete those that are None, and commit everything."""
        for path, content in files.items():
            target = self.clone / path
            target.parent.mkdir(parents=True, exist_ok=True)
            if content is None:
                target.unlink()
            else:
                target.write_bytes(content.encode() if isinstance(content, str) else content)
        git(self.clone, "add", "--all")
        git(self.clone, "commit", "--quiet", "--allow-empty", "--message", message)
        return git(self.clone, "rev-parse", "HEAD")

    def submodule(self, path: str) -> None:
        """Commit a submodule, of a repository that nobody has."""
        git(self.clone, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},{path}")
        (self.clone / path).mkdir(parents=True)
        git(self.clone, "commit", "--quiet", "--message", "a submodule")

    def push(self, branch: str = "main", *, force: bool = False) -> None:
        git(self.clone, "push", "--quiet", *(["--force"] if force else []), "origin", f"HEAD:{branch}")

    def pushed(self, files: dict[str, str | bytes | None], message: str = "a change") -> str:
        commit = self.commit(files, message)
        self.push()
        return commit


def a_catalogue(*sources: str) -> str:
    return _CATALOGUE + "".join(f'    - {{ source: "{source}" }}\n' for source in sources)
