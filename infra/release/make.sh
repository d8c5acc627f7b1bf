#!/bin/sh
# Makes what a release consists of, besides the images: wheel, sdist, chart, lists of all parts (CycloneDX) for Python and
# for the dashboard, the section of the change log, and the hashes of all.
#
#   infra/release/make.sh VERSION FOLDER
#
# VERSION is that of the checkout, as a tag has it with or without its v. Before it: make install.
set -eu

[ $# -eq 2 ] || {
    echo "usage: infra/release/make.sh VERSION FOLDER" >&2
    exit 2
}
fail() {
    echo "release: $1" >&2
    exit 1
}
version=${1#v} root=$(readlink -f "$(dirname "$0")/../..")
mkdir -p "$2"
out=$(readlink -f "$2")
[ -z "$(ls -A "$out")" ] || fail "$2 is not empty"
[ -f "$root/frontend/dist/index.html" ] || fail "the dashboard is not built: make frontend"

own=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$root/services/pyproject.toml")
[ "$own" = "$version" ] || fail "the checkout is version $own, not $version"

# The section of the version, without its title and the empty lines around it.
awk -v title="## $version" 'index($0, "## ") == 1 { on = ($0 == title || index($0, title " ") == 1); next } on' \
    "$root/CHANGELOG.md" | sed -e '/./,$!d' >"$out/notes.md"
[ -s "$out/notes.md" ] || fail "CHANGELOG.md has no section $version"

uv=$("$root/infra/bootstrap/uv.sh")
helm=$("$root/charts/tools/build.sh")/helm

cd "$root/services"
"$uv" build --quiet --system-certs --out-dir "$out" >&2
rm -f "$out/.gitignore"
"$uv" export --quiet --locked --no-dev --extra local --format cyclonedx1.5 --preview-features sbom-export \
    >"$out/kexbench-$version-python.cdx.json"
cd "$root/frontend"
# With the parts of development, which are marked: --omit dev leaves out React as well.
npm sbom --sbom-format cyclonedx --package-lock-only >"$out/kexbench-$version-dashboard.cdx.json"

"$helm" package "$root/charts/kexbench" --destination "$out" >&2
mv "$out/kexbench-$version.tgz" "$out/kexbench-chart-$version.tgz"

cd "$out"
sha256sum kexbench* >SHA256SUMS
