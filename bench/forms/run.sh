#!/usr/bin/env bash
# Measures the forms of kube-informer, kube-rs's reflector and client-go's informer, turn by turn on one server, each in a
# process of its own, and prints the medians and their ratios as Markdown.
#
#   bench/forms/run.sh [PODS, 10000 unless told] [TEMPLATES, 1000; 0: no two pods alike] [ROUNDS, 3]
#
#   SERVER     sim, which is kube-sim over HTTP (unless told), or real: a real API server over TLS, see real.sh
#   CLIENTS    what runs, in this order; "typed/stream metadata/stream kube-rs/list ..." unless told. measure-FORM/LIST is
#              `kubectl informer measure`. After a form of ours, "-thread" runs it on a thread of its own, then "-json"
#              asks for JSON instead of protobuf
#   PHASES     what comes after the sync: "churn burst relist" unless told
#   ALLOCATOR  of the Rust clients: system (unless told), mimalloc or jemalloc
#   CHANGES    how many pods are changed in a phase: 5000, or all if there are fewer; at most 25000
#   RATE       how many of them a second in the phase that is not a burst: 1000
#   WORKERS    how many workers of a work queue take the keys from the handler and look the objects up; 0, unless told: no queue.
#              For the forms of kube-informer
#   RATIOS     no: only the table of figures
#   RAW        a file to which each client's lines of JSON are added
#   URLS       a file with what "server real PODS TEMPLATES" (a program that this builds) has printed: that server is used
#   API_PID    the process of the API server, whose CPU time is shown, if it is not the one that this starts
#   RUN        a command that runs each client, such as "nice" or "taskset -c 0"
#
# Needs cargo, go and jq, and curl for measure; besides what the clients take 11.5 KB of memory for each pod and 700 MB for
# replaced versions, on a real API server five times as much. Ends by itself, at the latest 20 minutes per client after the
# server is ready, and takes the server with it.
set -euo pipefail
cd "$(dirname "$0")"
pods=${1:-10000}
templates=${2:-1000}
rounds=${3:-3}
allocator=${ALLOCATOR:-system}
server_kind=${SERVER:-sim}
read -ra phases <<<"${PHASES:-churn burst relist}"
read -ra run <<<"${RUN:-}"
changes=${CHANGES:-$((pods < 5000 ? pods : 5000))}
rate=${RATE:-1000}
clients=${CLIENTS:-typed/stream typed/list metadata/stream kube-rs/stream kube-rs/list client-go/stream client-go/list}
if ((changes > pods || changes > 25000)); then
    echo "run.sh: CHANGES is more than there are pods, or than the server remembers" >&2
    exit 2
fi

work=$(mktemp -d)
server=
end() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
    [ -z "$server" ] || wait "$server" 2>/dev/null || true
    rm -rf "$work"
}
trap end EXIT
trap 'exit 130' INT TERM

case $allocator in
system) features= ;;
mimalloc | jemalloc) features=$allocator ;;
*) echo "run.sh: ALLOCATOR is system, mimalloc or jemalloc" >&2 && exit 2 ;;
esac
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}
cargo build --release --quiet --features "$features"
cp "$CARGO_TARGET_DIR/release/client" "$CARGO_TARGET_DIR/release/server" "$work"
(cd go && go build -o "$work/client-go" .)
if [[ $clients == *measure-* ]]; then
    cargo build --release --quiet --manifest-path ../../Cargo.toml -p kubectl-informer
    cp "$CARGO_TARGET_DIR/release/kubectl-informer" "$work"
fi
[ "$server_kind" != real ] || ../../conformance/server/build >&2

if [ -n "${URLS:-}" ]; then
    cp "$URLS" "$work/urls"
else
    "$work/server" "$server_kind" "$pods" "$templates" >"$work/urls" &
    server=$!
fi
until [ -s "$work/urls" ]; do
    kill -0 "$server" 2>/dev/null || { wait "$server" || echo "run.sh: the server did not start (status $?)" >&2; exit 1; }
    sleep 0.2
done
read -r api control <"$work/urls"

# Whose CPU time is measured beside the client's.
if [ -z "${API_PID:-}" ] && [ -n "$server" ]; then
    API_PID=$server
    [ "$server_kind" != real ] || API_PID=$(pgrep -P "$server" -x kube-apiserver || true)
fi
[ -z "${API_PID:-}" ] || export API_PID

# `kubectl informer measure` of a form and a list, as lines of the same kind; it follows as many events as there are changes.
measure() {
    local at=(--kubeconfig "$api") initial=list line
    [ "$server_kind" = real ] || at=(--server "$api")
    [ "$2" = list ] || initial=watch-list
    "${run[@]}" timeout 1200 "$work/kubectl-informer" measure pods -A "${at[@]}" --form "${1#measure-}" \
        --initial "$initial" --events "$changes" -o json |
        while read -r line; do
            [[ $line != *'"phase":"sync"'* ]] || curl -sSf -o /dev/null -X POST "$control/bench/churn?changes=$changes&rate=$rate"
            jq -c --arg form "$1" --arg list "$2" --argjson pods "$pods" '. + {$form, $list, $pods, changes: (.events // 0),
                phase: (if .phase == "events" then "churn" else .phase end)}' <<<"$line"
        done
}

for ((round = 1; round <= rounds; round++)); do
    for client in $clients; do
        echo "round $round of $rounds: $client" >&2
        form=${client%/*} list=${client#*/}
        arguments=("$form" "$list" "$api" "$control" "$pods" "$changes" "$rate" "${phases[@]}")
        case $form in
        measure-*) measure "$form" "$list" ;;
        client-go*) "${run[@]}" timeout 1200 "$work/client-go" "${arguments[@]}" ;;
        *) "${run[@]}" timeout 1200 "$work/client" "${arguments[@]}" ;;
        esac >>"$work/lines"
    done
done
[ -z "${RAW:-}" ] || cat "$work/lines" >>"$RAW"
[ -z "$server" ] || echo "the server's memory: $(grep VmRSS "/proc/$server/status" | tr -s '[:space:]' ' ')" >&2

printf '%s pods (%s), %s templates, %s changes, allocator of the Rust clients: %s; median of %s\n\n' \
    "$pods" "$server_kind" "$templates" "$changes" "$allocator" "$rounds"
jq -rs -f table.jq "$work/lines"
