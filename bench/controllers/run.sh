#!/usr/bin/env bash
# Measures kube-controller, kube-rs's Controller and controller-runtime on one kube-sim over loopback HTTP, turn by turn, each in a
# process of its own with its defaults, and prints the medians and their ratios as Markdown.
#
#   bench/controllers/run.sh [PODS, 50000 unless told] [OBJECTS, 100000] [ROUNDS, 1]
#
#   CLIENTS  who runs: "ours kube-rs go" unless told
#   JOBS     what they do: "nothing pods" unless told; see src/bin/client/main.rs
#   RAW      a file to which each line of JSON is added
#
# Needs cargo, go and jq, and 11.5 KB of memory for each pod. It takes about three minutes a round.
set -euo pipefail
cd "$(dirname "$0")"
pods=${1:-50000}
objects=${2:-100000}
rounds=${3:-1}
clients=${CLIENTS:-ours kube-rs go}
jobs=${JOBS:-nothing pods}

work=$(mktemp -d)
server=
end() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
    [ -z "$server" ] || wait "$server" 2>/dev/null || true
    rm -rf "$work"
}
trap end EXIT
trap 'exit 130' INT TERM

export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}
cargo build --release --quiet
cp "$CARGO_TARGET_DIR"/release/{client,memory,server} "$work"
(cd go && go build -o "$work/go" .)

"$work/server" "$pods" "$objects" >"$work/url" &
server=$!
until [ -s "$work/url" ]; do
    kill -0 "$server" 2>/dev/null || { echo "run.sh: the server did not start" >&2; exit 1; }
    sleep 0.2
done
read -r url <"$work/url"

for ((round = 1; round <= rounds; round++)); do
    for job in $jobs; do
        count=$objects
        [ "$job" != pods ] || count=$pods
        for client in $clients; do
            echo "round $round of $rounds: $client $job; load $(cut -d' ' -f1 /proc/loadavg)" >&2
            case $client in
            go) timeout 900 "$work/go" "$job" "$url" "$count" ;;
            *) timeout 900 "$work/client" "$client" "$job" "$url" "$count" ;;
            esac >>"$work/lines"
        done
    done
done
[ -z "${RAW:-}" ] || cat "$work/lines" >>"$RAW"

printf '%s pods, %s config maps; load %s at the end\n\n' "$pods" "$objects" "$(cut -d' ' -f1-3 /proc/loadavg)"
jq -rs -f table.jq "$work/lines"
echo
echo "Beside the cache, in kube-controller:"
echo
"$work/memory" "$url" "$objects" | sed 's/^/- /'
