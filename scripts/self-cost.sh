#!/usr/bin/env bash
# What llmtop itself costs: CPU and memory of the live screen at 1 Hz, in a terminal of
# 200x50 (tmux), and of `llmtop record`. Without the engine.
#
#   scripts/self-cost.sh [seconds] [rounds]        attached to the built-in engine under load
#   scripts/self-cost.sh -full [seconds] [rounds]  on a full host: 8 fake GPUs, a page of 75 KB that
#                                                  changes, 500 processes beside it
#
# Default: 60 seconds, 3 rounds.
set -euo pipefail
cd "$(dirname "$0")/.."
full=
if [ "${1:-}" = -full ]; then full=1; shift; fi
window=${1:-60} rounds=${2:-3} warm=12
dir=$(mktemp -d)
socket="llmtop-cost-$$"
sleepers=()
cleanup() {
  tmux -L "$socket" kill-server 2>/dev/null || true
  kill "${engine:-}" "${load:-}" "${recorder:-}" 2>/dev/null || true
  if [ ${#sleepers[@]} -gt 0 ]; then kill "${sleepers[@]}" 2>/dev/null || true; fi
  rm -rf "$dir"
}
trap cleanup EXIT

go build -o "$dir/llmtop" ./cmd/llmtop
library= script=
if [ -n "$full" ]; then
  go build -o "$dir/exposition" ./scripts/exposition
  mkdir "$dir/lib"
  cc -std=gnu11 -O1 -fPIC -shared -fvisibility=hidden -pthread -Wl,-soname,libnvidia-ml.so.1 \
     -o "$dir/lib/libnvidia-ml.so.1" testdata/fakenvml/*.c
  library=$dir/lib script=$PWD/testdata/fakenvml/eight.txt
  { cat testdata/expositions/vllm-v1-dp2.prom
    echo '# TYPE padding_total counter'
    for i in $(seq 600); do echo "padding_total{number=\"$i\",why=\"75 KB\"} $i"; done
  } >"$dir/page.prom"
  "$dir/exposition" -addr 127.0.0.1:0 -state loaded "$dir/page.prom" >"$dir/serve" 2>&1 & engine=$!
  for _ in $(seq 500); do sleep 100000 & sleepers+=($!); done
  echo "a page of $(stat -c %s "$dir/page.prom") bytes, 8 fake GPUs, $(ls /proc | grep -c '^[0-9]') processes"
else
  "$dir/llmtop" serve --addr 127.0.0.1:0 >"$dir/serve" 2>&1 & engine=$!
fi
until grep -q http "$dir/serve"; do sleep 0.1; done
url=$(grep -o 'http://[^ /]*' "$dir/serve" | head -n 1)
if [ -z "$full" ]; then "$dir/llmtop" load --rate 5 --duration 0s "$url" >/dev/null 2>&1 & load=$!; fi

hz=$(getconf CLK_TCK)
ticks() { awk '{print $14+$15}' "/proc/$1/stat"; }
# measure NAME PID: what the process takes from after the warm-up on.
measure() {
  local from to began ended
  sleep "$warm"
  from=$(ticks "$2"); began=$(date +%s.%N)
  sleep "$window"
  to=$(ticks "$2"); ended=$(date +%s.%N)
  awk -v n="$1" -v d=$((to - from)) -v hz="$hz" -v a="$began" -v b="$ended" \
      -v rss="$(awk '/VmRSS/{print $2}' "/proc/$2/status")" -v hwm="$(awk '/VmHWM/{print $2}' "/proc/$2/status")" \
      'BEGIN{printf "%s: %.2f %% of a core, RSS %.1f MB, peak %.1f MB\n", n, d/hz/(b-a)*100, rss/1024, hwm/1024}'
}

echo "llmtop at 1 Hz; $window s after $warm s of warm-up"
for round in $(seq "$rounds"); do
  tmux -L "$socket" new-session -d -x 200 -y 50 -s "r$round" \
    "exec env LANG=C.UTF-8 TERM=xterm-256color LD_LIBRARY_PATH=$library FAKE_NVML_SCRIPT=$script $dir/llmtop $url"
  measure "screen 200x50, round $round" "$(tmux -L "$socket" list-panes -t "r$round" -F '#{pane_pid}')"
  tmux -L "$socket" kill-session -t "r$round"
  LD_LIBRARY_PATH=$library FAKE_NVML_SCRIPT=$script "$dir/llmtop" record -o "$dir/$round.llmrec" "$url" 2>/dev/null & recorder=$!
  measure "record, round $round" "$recorder"
  kill -INT "$recorder"; wait "$recorder" || true
done
