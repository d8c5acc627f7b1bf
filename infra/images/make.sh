#!/bin/sh
# Builds the images of kexbench and brings them to where a cluster takes them from. `make images` calls it, after
# `make frontend`.
set -eu

usage() {
    cat <<'TEXT'
usage: [NAME=VALUE ...] infra/images/make.sh [--dry-run]

Builds the images runner, builder and service with Docker, Podman or nerdctl, whichever is there, and brings them to a
cluster. What it would do, --dry-run prints.

  KIND_CLUSTER=NAME   load them into this kind cluster
  REGISTRY=HOST/PATH  push them there, as HOST/PATH/kexbench/runner and so on
  PLATFORMS=LIST      with REGISTRY, for these machines: linux/amd64,linux/arm64; otherwise for machines like this one
  TAG=TAG             with REGISTRY the commit's hash unless given, which must then have no changes; otherwise dev
  ENGINE=COMMAND      use this one of several

The devcluster needs none of this: `make devcluster` makes its own images.
TEXT
}

fail() {
    echo "make images: $1" >&2
    exit "${2:-1}"
}

run() {
    if [ "$dry_run" = yes ]; then
        echo "$*"
    else
        "$@"
    fi
}

dry_run=no
case ${1-} in
    -h | --help) usage && exit ;;
    --dry-run) dry_run=yes && shift ;;
esac
[ $# -eq 0 ] || fail "$1 is not an option; --help lists them" 2

registry=${REGISTRY-} kind_cluster=${KIND_CLUSTER-} platforms=${PLATFORMS-} engine=${ENGINE-}
[ -z "$registry" ] || [ -z "$kind_cluster" ] || fail "REGISTRY and KIND_CLUSTER are two places: give one of them" 2
[ -z "$platforms" ] || [ -n "$registry" ] || fail "PLATFORMS makes images for a registry: give REGISTRY too" 2

for candidate in docker podman nerdctl; do
    [ -n "$engine" ] || ! command -v "$candidate" >/dev/null || engine=$candidate
done
[ -n "$engine" ] || fail "no docker, podman or nerdctl in PATH builds images here. Install one of them: \
https://docs.docker.com/engine/install. To try kexbench on a cluster without, make devcluster"
command -v "$engine" >/dev/null || fail "there is no $engine in PATH, which ENGINE names"
[ "$dry_run" = yes ] || "$engine" info >/dev/null 2>&1 || fail "$engine is in PATH and does not work: \
is its service running, and may you use it? $engine info says more"
[ -z "$kind_cluster" ] || command -v kind >/dev/null || fail "there is no kind in PATH to load images into \
$kind_cluster with: https://kind.sigs.k8s.io"

root=$(readlink -f "$(dirname "$0")/../..")
cd "$root"
[ -f frontend/dist/index.html ] || fail "the dashboard is not built: make frontend"

prefix=${registry:-local.test}/kexbench tag=${TAG-}
if [ -z "$tag" ] && [ -n "$registry" ]; then
    # Nodes keep an image that they have: a tag must never mean two.
    [ -z "$(git status --porcelain)" ] || fail "the checkout has changes that no commit names: commit them, or give TAG"
    tag=$(git rev-parse --short=12 HEAD)
fi
tag=${tag:-dev}

# The older builder of Docker does not know all that the Dockerfile says, nor what is left out beside it.
export DOCKER_BUILDKIT=1

build() { # the image of Dockerfile's target $1
    image=$prefix/$1:$tag
    set -- build --file infra/images/Dockerfile --target "$1"
    if [ -z "$platforms" ]; then
        run "$engine" "$@" --tag "$image" .
        [ -z "$registry" ] || run "$engine" push "$image"
        return
    fi
    case $(basename "$engine") in
        docker)
            set -- "$@" --platform "$platforms" --sbom=true --provenance=mode=max
            run "$engine" buildx "$@" --tag "$image" --push .
            ;;
        podman)
            run "$engine" "$@" --platform "$platforms" --manifest "$image" .
            run "$engine" manifest push --all "$image"
            ;;
        *)
            run "$engine" "$@" --platform "$platforms" --tag "$image" .
            run "$engine" push --all-platforms "$image"
            ;;
    esac
}

load() {
    archives=$(mktemp -d)
    trap 'rm -rf "$archives"' EXIT
    for name in runner builder service; do
        run "$engine" save --output "$archives/$name.tar" "$prefix/$name:$tag"
        run kind load image-archive "$archives/$name.tar" --name "$kind_cluster"
        rm -f "$archives/$name.tar"
    done
}

for name in runner builder service; do
    build "$name"
done
[ -z "$kind_cluster" ] || load
echo "helm takes them with: --set image.prefix=$prefix --set image.tag=$tag"
