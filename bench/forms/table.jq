# The lines of all clients as two tables of medians: figures, and ours against each peer's.

def median: sort | if length % 2 == 1 then .[length / 2 | floor] else (.[length / 2 - 1] + .[length / 2]) / 2 end;
def fixed($digits): (. * pow(10; $digits) | round) as $n
    | if $digits == 0 then "\($n)" else
        ($n | tostring | if length <= $digits then ("0" * ($digits + 1 - length)) + . else . end)
        | "\(.[:-$digits]).\(.[-$digits:])" end;
def ours: .name | test("^(kube-rs|client-go)") | not;

# Phases of one client, each with medians: {"sync": {"cpu_s": 1.2, ...}, ...}
def medians: group_by(.phase) | map({
        key: .[0].phase,
        value: (. as $runs | ["wall_s", "cpu_s", "rss_mib", "peak_mib", "changes", "pods", "server_cpu_s", "received_mb"]
            | map({key: ., value: (. as $field | $runs | map(.[$field]) | if any(. == null) then null else median end)})
            | from_entries)
    }) | from_entries;

# CPU time below a clock tick counts as one. Nothing for a phase that was not run.
def per_cpu: if . then .changes / ([.cpu_s, 0.001] | max) else null end;

# What is compared: name, value, digits, and whether more is better.
def figures: [
    ["sync, CPU s", .sync.cpu_s, 2, false],
    ["sync, wall s", .sync.wall_s, 2, false],
    ["server, CPU s", .sync.server_cpu_s, 2, false],
    ["received, MB", .sync.received_mb, 0, false],
    ["RSS MiB", .sync.rss_mib, 0, false],
    ["KB per pod", (.sync.rss_mib * 1048.576 / .sync.pods), 2, false],
    ["peak MiB", .sync.peak_mib, 0, false],
    ["changes per CPU s", (.churn | per_cpu), 0, true],
    ["in a burst", (.burst | per_cpu), 0, true],
    ["RSS MiB after both", .burst.rss_mib, 0, false],
    ["relist, CPU s", .relist.cpu_s, 2, false],
    ["relist, peak MiB", .relist.peak_mib, 0, false]
];

# In the order in which the clients ran first.
(map("\(.form) \(.list)") | reduce .[] as $name ([]; if index($name) then . else . + [$name] end)) as $names
| [$names[] as $name | {name: $name, figures: (map(select("\(.form) \(.list)" == $name)) | medians | figures)}]
| . as $clients
| (.[0].figures | map(.[0])) as $all
# Those that at least one client has.
| [range($all | length) as $i | select($clients | any(.figures[$i][1])) | $i] as $columns
| [$columns[] as $i | $all[$i]] as $titles
# Said by the memory as a whole already.
| ($titles | map(select(. != "KB per pod"))) as $compared
| (["client"] + $titles | "| " + join(" | ") + " |"),
  (["---"] + ($titles | map("---:")) | "|" + join("|") + "|"),
  ($clients[] | [.name] + (.figures | [.[$columns[]]] | map(. as [$t, $value, $digits] | $value | if . then fixed($digits) else "" end))
    | "| " + join(" | ") + " |"),
  if env.RATIOS == "no" then empty else
  "",
  "How many times better (below one: worse):",
  "",
  (["client", "than"] + $compared | "| " + join(" | ") + " |"),
  (["---", "---"] + ($compared | map("---:")) | "|" + join("|") + "|"),
  ($clients[] | select(ours) as $mine | $clients[] | select(ours | not) as $peer
    | [$mine.name, $peer.name] + [$columns[] as $i | select($all[$i] != "KB per pod")
        | $mine.figures[$i] as [$t, $own, $digits, $more] | $peer.figures[$i][1] as $theirs
        | if $own and $theirs then (if $more then $own / $theirs else $theirs / ([$own, 0.001] | max) end) | fixed(1)
          else "" end]
    | "| " + join(" | ") + " |")
  end
