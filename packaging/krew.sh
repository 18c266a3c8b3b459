#!/usr/bin/env bash
# Writes the krew manifest of a release to standard output.
#
#   packaging/krew.sh VERSION FOLDER
#
# FOLDER has the archives' checksums, as archive.sh writes them. Fails if one is missing.
set -euo pipefail
version=$1 folder=$2
manifest=$(grep -v '^#' "$(dirname "$0")/krew.yaml")
manifest=${manifest//VERSION/$version}
for target in $(grep -o 'SHA256_[a-z0-9_-]*' <<< "$manifest"); do
  sum=$(cut -d ' ' -f 1 "$folder/kubectl-informer-${target#SHA256_}.tar.gz.sha256")
  [[ $sum =~ ^[0-9a-f]{64}$ ]] || { echo "no checksum of ${target#SHA256_} in $folder" >&2; exit 1; }
  manifest=${manifest//$target/$sum}
done
printf '%s\n' "$manifest"
