#!/usr/bin/env bash
# Puts a built kubectl-informer, its licence and its manual pages into an archive, with its checksum beside it.
#
#   packaging/archive.sh TARGET BINARY FOLDER
#
# writes FOLDER/kubectl-informer-TARGET.tar.gz and FOLDER/kubectl-informer-TARGET.tar.gz.sha256. The binary writes the pages, so
# it must be one that runs here.
set -euo pipefail
target=$1 binary=$2 folder=$3
root=$(cd "$(dirname "$0")/.." && pwd)
staged=$(mktemp -d)
trap 'rm -rf "$staged"' EXIT

install -m 755 "$binary" "$staged/kubectl-informer"
cp "$root/LICENSE" "$staged/LICENSE"
mkdir "$staged/man"
"$binary" man "$staged/man"

mkdir -p "$folder"
archive=kubectl-informer-$target.tar.gz
tar -C "$staged" -czf "$folder/$archive" kubectl-informer LICENSE man
(cd "$folder" && { sha256sum "$archive" 2>/dev/null || shasum -a 256 "$archive"; } > "$archive.sha256")
