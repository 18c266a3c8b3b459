# The lines of all clients as two tables: the medians, and how many times better kube-controller is.

def median: sort | .[(length - 1) / 2 | floor];
def of($who; $job; $phase; path): map(select(.who == $who and .job == $job and (.phase // "") == $phase) | path) | median;
def shown: if . == null then "" elif . >= 100 then round else (. * 100 | round / 100) end | tostring;

. as $lines
| (reduce $lines[].who as $who ([]; if index($who) then . else . + [$who] end)) as $all
| [
    ["reconciles of nothing a second", "nothing", "", ["per_s"], true],
    ["a CPU second", "nothing", "", ["per_cpu_s"], true],
    ["RSS, MiB", "pods", "settled", ["rss_mib"], false],
    ["at rest: told to reconcile, p50, us", "pods", "rest", ["told_us", 0], false],
    ["p99", "pods", "rest", ["told_us", 1], false],
    ["change to reconcile, p50, us", "pods", "rest", ["change_us", 0], false],
    ["p99", "pods", "rest", ["change_us", 1], false],
    ["1,000 changes/s: told to reconcile, p50, us", "pods", "load", ["told_us", 0], false],
    ["p99", "pods", "load", ["told_us", 1], false],
    ["change to reconcile, p50, us", "pods", "load", ["change_us", 0], false],
    ["p99", "pods", "load", ["change_us", 1], false],
    ["CPU us a change", "pods", "load", ["cpu_us"], false]
  ] as $rows
| "| | \($all | join(" | ")) | \($all[1:] | map("times better than \(.)") | join(" | ")) |",
  "|---|\($all + $all[1:] | map("---:") | join("|"))|",
  ($rows[] as [$title, $job, $phase, $path, $more]
    | [$all[] as $who | $lines | of($who; $job; $phase; getpath($path))] as $values
    | "| \($title) | \($values | map(shown) | join(" | ")) | \([$values[1:][]
        | if . == null or $values[0] == null then "" elif $more then $values[0] / . else . / $values[0] end | shown] | join(" | ")) |")
