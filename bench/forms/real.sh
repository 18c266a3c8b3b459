#!/usr/bin/env bash
# What a collection of pods costs on a real API server with etcd, over TLS: each form of kube-informer, `kubectl informer
# measure`, client-go and kube-rs, each by a LIST and by a streaming list, turn by turn; prints the table.
#
#   bench/forms/real.sh [PODS, 50000 unless told] [TEMPLATES, 1000] [ROUNDS, 1]
#
# Filling the server takes 4 to 8 minutes for 50,000 pods on two processors, a client one minute at most; all 24 take half an
# hour. With the largest client 13 GB of memory are in use. For options see run.sh.
set -euo pipefail
cd "$(dirname "$0")"

ours=(packed packed-json projection metadata pruned typed measure-packed measure-metadata measure-typed)
peers=(client-go-protobuf client-go kube-rs)
both=$(printf '%s/stream %s/list ' $(for form in "${ours[@]}" "${peers[@]}"; do echo "$form" "$form"; done))

export SERVER=real
export PHASES=churn RATE=${RATE:-150} CHANGES=${CHANGES:-3000} RATIOS=${RATIOS:-no}
export CLIENTS=${CLIENTS:-$both}
exec ./run.sh "${1:-50000}" "${2:-1000}" "${3:-1}"
