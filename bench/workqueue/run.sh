#!/usr/bin/env bash
# Measures kube-workqueue and client-go's work queue alternately, and prints the medians and their ratios.
#
#   bench/workqueue/run.sh [rounds, 7 unless told]
#
# Both run on at most two cores. Needs cargo and go.
set -euo pipefail
cd "$(dirname "$0")"
rounds=${1:-7}
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT

cargo build --release --quiet
(cd go && go build -o "$results/client-go" .)
ours=${CARGO_TARGET_DIR:-target}/release/bench-workqueue

for ((round = 1; round <= rounds; round++)); do
    echo "round $round of $rounds" >&2
    "$ours" >>"$results/ours"
    GOMAXPROCS=2 "$results/client-go" >>"$results/theirs"
done

median() { # file, name
    awk -v name="$2" '$1 == name { print $2 }' "$1" | sort -g | awk '{ v[NR] = $1 }
        END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}

printf '| %-26s | %14s | %10s | %6s |\n' "median of $rounds" kube-workqueue client-go ratio
printf '|---|---:|---:|---:|\n'
awk '!seen[$1]++ { print $1 }' "$results/ours" | while read -r name; do
    ours_median=$(median "$results/ours" "$name")
    theirs_median=$(median "$results/theirs" "$name")
    ratio=$(awk -v a="$theirs_median" -v b="$ours_median" 'BEGIN { printf "%.1f", a / b }')
    printf '| %-26s | %14s | %10s | %6s |\n' "$name" "$ours_median" "$theirs_median" "$ratio"
done
