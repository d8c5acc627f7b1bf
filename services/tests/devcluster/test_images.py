"""Layers and archives of images are the same for the same files, and hold what they should."""

import io
import json
import os
import tarfile
from collections.abc import Collection, Sequence
from pathlib import Path

import pytest

from devcluster.archive import Image, write_archive
from devcluster.cache import CHECKOUT, made_once
from devcluster.debian import listed_packages
from devcluster.layers import Layer, read_layer, write_layer


def layer_of(folder: Path, name: str, without: Path | None = None, prefix: str = "") -> Layer:
    target = folder.parent / f"{name}.tar"
    write_layer(target, folder, without, prefix)
    return read_layer(target)


def tree(folder: Path, **files: str) -> Path:
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_text(content)
    return folder


def names(layer: Layer) -> list[str]:
    with tarfile.open(layer.path) as tar:
        return tar.getnames()


def test_the_same_files_make_the_same_layer_whenever_they_were_written(tmp_path: Path) -> None:
    one = tree(tmp_path / "one", a="1", b="2")
    two = tree(tmp_path / "two", b="2", a="1")
    (two / "a").touch()
    assert layer_of(one, "first").digest == layer_of(two, "second").digest


def test_another_mode_makes_another_layer(tmp_path: Path) -> None:
    one = tree(tmp_path / "one", a="1")
    before = layer_of(one, "first").digest
    (one / "a").chmod(0o755)
    assert layer_of(one, "second").digest != before


def test_a_layer_over_another_holds_what_differs_only(tmp_path: Path) -> None:
    lower = tree(tmp_path / "lower", same="1", changed="1", gone="1")
    upper = tree(tmp_path / "upper", same="1", changed="2", new="1")
    assert names(layer_of(upper, "layer", without=lower)) == ["changed", "new"]


def test_links_stay_links(tmp_path: Path) -> None:
    one = tree(tmp_path / "one", a="1")
    (one / "to-a").symlink_to("a")
    with tarfile.open(layer_of(one, "layer").path) as tar:
        assert tar.getmember("to-a").linkname == "a"


def test_a_prefix_comes_with_the_folders_on_the_way(tmp_path: Path) -> None:
    one = tree(tmp_path / "one", a="1")
    assert names(layer_of(one, "layer", prefix="opt/kexbench")) == ["opt", "opt/kexbench", "opt/kexbench/a"]


def test_an_archive_holds_a_shared_layer_once_and_the_images_that_use_it(tmp_path: Path) -> None:
    shared = layer_of(tree(tmp_path / "one", a="1"), "shared")
    more = layer_of(tree(tmp_path / "two", b="1"), "more")
    images = (
        Image("local.test/small:dev", (shared,), ("true",), 65532),
        Image("local.test/large:dev", (shared, more), ("true",), 65532, {"NAME": "value"}),
    )
    blobs = archived(images)
    assert blobs.keys() >= {shared.digest, more.digest}
    index = json.loads(blobs["index.json"])["manifests"]
    assert [each["annotations"]["io.containerd.image.name"] for each in index] == [image.name for image in images]
    manifest = json.loads(blobs[index[1]["digest"].removeprefix("sha256:")])
    assert [layer["digest"] for layer in manifest["layers"]] == [f"sha256:{shared.digest}", f"sha256:{more.digest}"]
    config = json.loads(blobs[manifest["config"]["digest"].removeprefix("sha256:")])
    assert config["config"]["User"] == "65532:65532"
    assert config["config"]["Env"] == ["NAME=value"]


def test_layers_that_the_store_has_are_left_out(tmp_path: Path) -> None:
    there = layer_of(tree(tmp_path / "one", a="1"), "there")
    new = layer_of(tree(tmp_path / "two", b="1"), "new")
    blobs = archived((Image("local.test/any:dev", (there, new), ("true",), 65532),), left_out={there})
    assert new.digest in blobs
    assert there.digest not in blobs


def archived(images: Sequence[Image], left_out: Collection[Layer] = ()) -> dict[str, bytes]:
    """The members of the archive, by the last part of their names; each must be in it once."""
    stream = io.BytesIO()
    write_archive(stream, images, "x86_64", left_out)
    stream.seek(0)
    found: dict[str, bytes] = {}
    with tarfile.open(fileobj=stream) as tar:
        for member in tar:
            file = tar.extractfile(member)
            assert file is not None
            name = Path(member.name).name
            assert name not in found
            found[name] = file.read()
    return found


def test_what_fails_midway_is_not_in_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEXBENCH_CACHE", str(tmp_path))

    def fail(folder: Path) -> None:
        (folder / "half").write_text("")
        raise RuntimeError

    def succeed(folder: Path) -> None:
        (folder / "whole").write_text("")

    with pytest.raises(RuntimeError):
        made_once("thing", ["part"], fail)
    assert [path.name for path in made_once("thing", ["part"], succeed).iterdir()] == ["whole"]
    assert made_once("thing", ["part"], fail) == made_once("thing", ["part"], succeed)


def test_what_is_unused_for_a_week_is_removed_when_it_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEXBENCH_CACHE", str(tmp_path))

    def make(folder: Path) -> None:
        (folder / "whole").write_text("")

    unused, used, alike = (
        made_once(name, [part], make) for name, part in [("thing", "1"), ("thing", "2"), ("thing-more", "1")]
    )
    for folder in (unused, used, alike):
        os.utime(folder, (0, 0))
    assert made_once("thing", ["2"], make) == used
    newest = made_once("thing", ["3"], make)
    assert {path for path in used.parent.iterdir() if path.is_dir()} == {used, newest, alike}


def test_the_dockerfile_reads_every_list_that_the_devcluster_reads() -> None:
    dockerfile = (CHECKOUT / "infra" / "images" / "Dockerfile").read_text()
    lists = ("images/packages-runner.txt", "images/packages-builder.txt", "bootstrap/packages-run.txt")
    for name in (*lists, "bootstrap/packages-kits.txt"):
        assert f"infra/{name}" in dockerfile
        assert listed_packages(name)
