#!/usr/bin/env bash
# Measures warm starts of an informer of packed pods on a simulated server: what a start without a file receives, what one with a
# file does, and what saving costs while 100 pods change each second.
#
#   bench/forms/warm.sh [PODS, 100000 unless told] [SECONDS of changes, 60]
#
# Needs cargo; besides what the clients take 11.5 KB of memory for each pod.
set -euo pipefail
cd "$(dirname "$0")"
pods=${1:-100000}
seconds=${2:-60}
port=${PORT:-18787}

work=$(mktemp -d)
server=
end() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
    [ -z "$server" ] || wait "$server" 2>/dev/null || true
    server=
}
trap 'end; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}
cargo build --release --quiet --bin warm
warm=$CARGO_TARGET_DIR/release/warm
sim=${SIM:-}
if [ -z "$sim" ]; then
    (cd ../.. && cargo build --release --quiet -p kube-sim)
    sim=$CARGO_TARGET_DIR/release/kube-sim
fi

serve() {
    "$sim" --pods "$pods" --nodes 1000 --port "$port" "$@" >"$work/sim.log" 2>&1 &
    server=$!
    until curl -fs "http://127.0.0.1:$port/readyz" >/dev/null; do sleep 0.2; done
}

echo "nothing changes: without a file, then three times with it"
serve
for _ in 1 2 3 4; do "$warm" run "http://127.0.0.1:$port" "$work/cache" 3; done
end
echo "100 changes a second: without saving, saved as often as possible, without saving"
serve --churn 100
"$warm" run "http://127.0.0.1:$port" - "$seconds"
"$warm" run "http://127.0.0.1:$port" "$work/churn" "$seconds" 1
"$warm" run "http://127.0.0.1:$port" - "$seconds"
