#!/usr/bin/env bash
# Measures what a notification costs here and in client-go, alternately, then what stalled handlers cost the others.
#
#   bench/informer/handlers.sh [rounds, 5 unless told]
#
# Needs cargo and go.
set -euo pipefail
cd "$(dirname "$0")"
rounds=${1:-5}

cargo build --release --quiet
ours=${CARGO_TARGET_DIR:-target}/release/handlers
(cd go && go test -c -o /dev/null k8s.io/client-go/tools/cache)

for ((round = 1; round <= rounds; round++)); do
    "$ours" notify 50000 5
    (cd go && GOMAXPROCS=2 go test -run '^$' -bench '^BenchmarkListener$' -benchmem -benchtime 500000x \
        k8s.io/client-go/tools/cache) | grep '^Benchmark'
done
for pods in 100 1000 10000; do
    "$ours" stalled "$pods" 10000 "$rounds"
done
