#!/usr/bin/env bash
# What llmtop itself costs: CPU and memory of the live screen at 1 Hz, in a terminal of
# 200x50 (tmux), attached to the built-in engine under load. Without the engine.
#
#   scripts/self-cost.sh [seconds] [rounds]      default: 60 seconds, 3 rounds
set -euo pipefail
cd "$(dirname "$0")/.."
window=${1:-60} rounds=${2:-3} warm=8
dir=$(mktemp -d)
socket="llmtop-cost-$$"
cleanup() {
  tmux -L "$socket" kill-server 2>/dev/null || true
  kill "${engine:-}" "${load:-}" 2>/dev/null || true
  rm -rf "$dir"
}
trap cleanup EXIT

go build -o "$dir/llmtop" ./cmd/llmtop
"$dir/llmtop" serve --addr 127.0.0.1:0 >"$dir/serve" 2>&1 & engine=$!
until grep -q http "$dir/serve"; do sleep 0.1; done
url=$(grep -o 'http://[^ ]*' "$dir/serve")
"$dir/llmtop" load --rate 5 --duration 0s "$url" >/dev/null 2>&1 & load=$!

hz=$(getconf CLK_TCK)
ticks() { awk '{print $14+$15}' "/proc/$1/stat"; }
echo "llmtop at 1 Hz, 200x50, engine at 5 requests/s; $window s after $warm s of warm-up"
for round in $(seq "$rounds"); do
  tmux -L "$socket" new-session -d -x 200 -y 50 -s "r$round" "exec env LANG=C.UTF-8 TERM=xterm-256color $dir/llmtop $url"
  pid=$(tmux -L "$socket" list-panes -t "r$round" -F '#{pane_pid}')
  sleep "$warm"
  from=$(ticks "$pid"); began=$(date +%s.%N)
  sleep "$window"
  to=$(ticks "$pid"); ended=$(date +%s.%N)
  awk -v r="$round" -v d=$((to - from)) -v hz="$hz" -v a="$began" -v b="$ended" \
      -v rss="$(awk '/VmRSS/{print $2}' "/proc/$pid/status")" -v hwm="$(awk '/VmHWM/{print $2}' "/proc/$pid/status")" \
      'BEGIN{printf "round %d: %.2f %% of a core, RSS %.1f MB, peak %.1f MB\n", r, d/hz/(b-a)*100, rss/1024, hwm/1024}'
  tmux -L "$socket" kill-session -t "r$round"
done
