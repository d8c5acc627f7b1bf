#!/bin/sh
# Prints the folder of the tools that the chart is tested with, building them into the cache first where they are
# missing: helm, helm-unittest, kubeconform and, for kubeconform, schemas of Kubernetes and the Prometheus operator.
set -eu

# What the devcluster runs, and the newest.
KUBERNETES=k8s.io/kubernetes@v1.35.4
NEWEST=k8s.io/kubernetes@v1.37.2
OPERATOR=github.com/prometheus-operator/prometheus-operator@v0.85.0

here=$(dirname "$(readlink -f "$0")")
root=$(readlink -f "$here/../..")
cache=${KEXBENCH_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/kexbench}/charts
key=$(cat "$here/build.sh" "$here/schemas.py" "$here/go.mod" "$here/go.sum" | sha256sum | cut -c1-16)

if [ ! -d "$cache/$key" ]; then
    command -v go >/dev/null || {
        echo "The chart's tests need Go 1.26 or newer in PATH: https://go.dev/doc/install" >&2
        exit 1
    }
    echo "building the chart's tools, a few minutes" >&2
    mkdir -p "$cache"
    scratch=$(mktemp -d "$cache/$key.XXXXXX")
    trap 'rm -rf "$scratch"' EXIT
    # Without what only debuggers read, a fifth of the compiler's time is saved.
    (cd "$here" && GOGC=${GOGC:-400} CGO_ENABLED=0 go build -mod=readonly -trimpath -gcflags all=-dwarf=false \
        -ldflags "-s -w" -o "$scratch/" helm.sh/helm/v4/cmd/helm github.com/helm-unittest/helm-unittest/cmd/helm-unittest \
        github.com/yannh/kubeconform/cmd/kubeconform)
    # Outside of any module, Go checks what it downloads against its checksum database.
    module() {
        (cd "$scratch" && go mod download -json "$1" | sed -n 's/^\t"Dir": "\(.*\)",\{0,1\}$/\1/p')
    }
    kubernetes=$(module $KUBERNETES) newest=$(module $NEWEST) operator=$(module $OPERATOR)
    [ -n "$kubernetes" ] && [ -n "$newest" ] && [ -n "$operator" ] || {
        echo "Go could not download $KUBERNETES, $NEWEST and $OPERATOR; try again with a network" >&2
        exit 1
    }
    "$root/services/.venv/bin/python" "$here/schemas.py" "$scratch/schemas" "$kubernetes" "$operator"
    "$root/services/.venv/bin/python" "$here/schemas.py" "$scratch/schemas-newest" "$newest" "$operator"
    # Another build may have been faster; its folder is as good. A folder made by mktemp is its owner's alone.
    chmod 755 "$scratch"
    mv -T "$scratch" "$cache/$key" 2>/dev/null || [ -d "$cache/$key" ]
fi
echo "$cache/$key"
