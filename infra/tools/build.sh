#!/bin/sh
# Prints the folder of the tools that the files for users' clusters are read with, building them into the cache first
# where they are missing: kustomize, programs that evaluate files for OpenTofu and Terraform and the expressions of alerts,
# and for workflows, Compose files and `make outdated` and `make audit` actionlint, compose, crane and govulncheck.
set -eu

here=$(dirname "$(readlink -f "$0")")
cache=${KEXBENCH_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/kexbench}/infra
key=$(cat "$here/build.sh" "$here"/*/go.mod "$here"/*/go.sum "$here"/*/*.go | sha256sum | cut -c1-16)

if [ ! -d "$cache/$key" ]; then
    command -v go >/dev/null || {
        echo "The tests of infra need Go 1.26 or newer in PATH: https://go.dev/doc/install" >&2
        exit 1
    }
    echo "building what reads the files for users' clusters, a minute" >&2
    mkdir -p "$cache"
    scratch=$(mktemp -d "$cache/$key.XXXXXX")
    trap 'rm -rf "$scratch"' EXIT
    build() { # in the module $1, the programs of the other packages
        # Without what only debuggers read, a fifth of the compiler's time is saved.
        cd "$here/$1" && shift && GOGC=${GOGC:-400} CGO_ENABLED=0 go build -mod=readonly -trimpath \
            -gcflags all=-dwarf=false -ldflags "-s -w" -o "$scratch/" "$@"
    }
    (build kustomize sigs.k8s.io/kustomize/kustomize/v5)
    (build evaluate .)
    (build rules .)
    (build upkeep github.com/rhysd/actionlint/cmd/actionlint github.com/google/go-containerregistry/cmd/crane \
        golang.org/x/vuln/cmd/govulncheck)
    (build compose github.com/compose-spec/compose-go/v2/cmd)
    mv "$scratch/cmd" "$scratch/compose"
    # Another build may have been faster; its folder is as good. A folder made by mktemp is its owner's alone.
    chmod 755 "$scratch"
    mv -T "$scratch" "$cache/$key" 2>/dev/null || [ -d "$cache/$key" ]
fi
echo "$cache/$key"
