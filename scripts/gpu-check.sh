#!/usr/bin/env bash
# What llmtop reads on a host that has a GPU: `llmtop doctor` idle and under a short load,
# as root and as a plain user, with LD_BIND_NOW too, a recording of 20 s, and nvidia-smi's
# numbers beside llmtop's. Everything goes into one folder, a summary to standard output.
#
#   scripts/gpu-check.sh [FOLDER]       default: ./gpu-check-HOST-TIME
#   LLMTOP=path scripts/gpu-check.sh    this llmtop; else it is built here
#   LOAD=no scripts/gpu-check.sh        without a load; LOAD=yes: also when the GPUs are in use
#
# It takes less than four minutes, only reads, and changes no setting. GPUs that somebody
# uses already get no load. A host without a GPU is told as one.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-gpu-check-$(hostname)-$(date -u +%Y%m%dT%H%M%SZ)}
mkdir -p "$out" && out=$(cd "$out" && pwd) || exit 2
work=$(mktemp -d)
load=
cleanup() {
  [ -z "$load" ] || kill "$load" 2>/dev/null
  rm -rf "$work"
}
trap cleanup EXIT
say() { printf '%s\n' "$*" | tee -a "$out/summary.txt"; }
: >"$out/summary.txt"

# A copy that a plain user may run too.
chmod 755 "$work"
if [ -n "${LLMTOP:-}" ]; then
  cp "$LLMTOP" "$work/llmtop" || exit 2
elif command -v go >/dev/null; then
  (cd "$here/.." && CGO_CFLAGS="${CGO_CFLAGS:--O2 -Wno-deprecated-declarations}" go build -o "$work/llmtop" ./cmd/llmtop) || exit 2
else
  echo "gpu-check: no Go here to build llmtop with: give a built one as LLMTOP=path" >&2
  exit 2
fi
chmod 755 "$work/llmtop"
say "llmtop $("$work/llmtop" --version 2>&1 | awk '{print $NF}') on $(uname -srm), $(date -u +%Y-%m-%dT%H:%M:%SZ)"

# as_plain runs a command as nobody; only root can.
as_plain() {
  if [ "$(id -u)" != 0 ]; then return 125
  elif command -v setpriv >/dev/null; then setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
  elif command -v runuser >/dev/null; then runuser -u nobody -- "$@"
  else return 125; fi
}

# doctor NAME COMMAND…: runs a doctor both ways and says how it ended. A driver that holds
# a process for ever is left behind after 20 s.
doctor() {
  local name=$1 status; shift
  (cd / && timeout -k 5 20 "$@" "$work/llmtop" doctor --json) >"$out/$name.json" 2>"$out/$name.err"
  status=$?
  (cd / && timeout -k 5 20 "$@" "$work/llmtop" doctor) >"$out/$name.txt" 2>>"$out/$name.err"
  case $status in
  0) say "doctor, $name: nothing broken ($(devices "$out/$name.json") devices)" ;;
  1) say "doctor, $name: broken ($(devices "$out/$name.json") devices):"
     sed -n 's/.*"broken":\["\(.*\)"\]}$/\1/p' "$out/$name.json" | sed 's/","/\n/g' | head -n 5 | cut -c1-200 | sed 's/^/    /' | tee -a "$out/summary.txt" ;;
  124 | 137) say "doctor, $name: NO END within 20 s" ;;
  *) say "doctor, $name: ENDED WITH STATUS $status: $(head -c 300 "$out/$name.err" | head -n 1)" ;;
  esac
}

# now_section prints the GPU section of a report, of its second read, a device a line.
now_section() {
  sed -n 's/.*"sections":{\("gpu":{.*\)/\1/p' "$1" | sed 's/"before":{.*//; s/"index":/\n&/g' | grep '^"index":' | grep -v '"instance":'
}
devices() { now_section "$1" | grep -c '^"index":'; }

both() { # both NAME: as this user, and as a plain one
  doctor "$1-$(id -un)" env
  if [ "$(id -u)" = 0 ]; then
    plain_doctor "$1-nobody"
  else
    say "doctor, $1: as root is left out: this is $(id -un)"
  fi
}
plain_doctor() {
  if as_plain true 2>/dev/null; then
    export -f as_plain
    doctor "$1" bash -c 'as_plain "$@"' as_plain
  else
    say "doctor, $1: left out: neither setpriv nor runuser works here"
  fi
}

say ""
say "== idle"
both idle
doctor "bind-now" env LD_BIND_NOW=1
gpus=$(devices "$out/idle-$(id -un).json")
note=$(grep -o '"note":"[^"]*"' "$out/idle-$(id -un).json" | head -n 1 | cut -d'"' -f4)
[ "$gpus" -gt 0 ] || say "no GPU: ${note:-none was read}"
if command -v nvidia-smi >/dev/null; then
  timeout -k 5 20 nvidia-smi -q >"$out/nvidia-smi-idle.txt" 2>&1 || say "nvidia-smi -q failed: $(tail -n 1 "$out/nvidia-smi-idle.txt" | cut -c1-200)"
fi

# The load: PyTorch where it is, else a small program for the driver's own interface.
start_load() {
  local how
  if python3 -c 'import torch, sys; sys.exit(not torch.cuda.is_available())' 2>/dev/null; then
    how="PyTorch: products of matrices"
    python3 - >"$work/load.out" 2>"$out/load.err" <<'PYTHON' &
import time, torch
made = [torch.randn(4096, 4096, device=f"cuda:{i}", dtype=torch.float16) for i in range(torch.cuda.device_count())]
print("running", flush=True)
end = time.monotonic() + 90
while time.monotonic() < end:
    for m in made:
        for _ in range(10):
            m @ m
    for i in range(len(made)):
        torch.cuda.synchronize(i)
PYTHON
  elif command -v cc >/dev/null && cc -O1 -o "$work/gpu-load" "$here/gpu-load.c" -ldl 2>"$out/load.err"; then
    how="scripts/gpu-load.c: a buffer is streamed"
    "$work/gpu-load" 90 >"$work/load.out" 2>>"$out/load.err" &
  else
    say "no load: neither PyTorch nor a C compiler is here"
    return 1
  fi
  load=$!
  for _ in $(seq 100); do # a first start of CUDA on a large host takes its time
    grep -q running "$work/load.out" 2>/dev/null && { say "load: $how"; return 0; }
    kill -0 "$load" 2>/dev/null || break
    sleep 0.3
  done
  say "no load: it did not start: $(tail -n 1 "$out/load.err" | cut -c1-200)"
  kill "$load" 2>/dev/null
  load=
  return 1
}

in_use=$(grep -c '"processes":\[{"gpu"' "$out/idle-$(id -un).json")
say ""
say "== under load"
loaded=no
if [ "$gpus" = 0 ]; then
  say "no load: there is no GPU"
elif [ "${LOAD:-}" = no ]; then
  say "no load: LOAD=no"
elif [ "$in_use" -gt 0 ] && [ "${LOAD:-}" != yes ]; then
  say "no load: processes use the GPUs already; what they do is the load (LOAD=yes adds to it)"
elif start_load; then
  loaded=yes
  sleep 4 # until averages over a second or so are those of the load
fi

# compare holds llmtop's numbers against nvidia-smi's, which are read right after.
compare() {
  local ours=$1 theirs=$2
  awk -F, -v sections="$ours" '
    function ours(line, name, scale) {
      if (!match(line, "\"" name "\":-?[0-9.e+]+")) return "none"
      return substr(line, RSTART + length(name) + 3, RLENGTH - length(name) - 3) * scale
    }
    BEGIN {
      n = split("power_watts power_limit_watts sm_clock_hertz memory_clock_hertz memory_total_bytes memory_used_bytes temperature_celsius kernel_active_ratio pcie_generation pcie_width", name, " ")
      split("1 1 1e-6 1e-6 9.5367431640625e-07 9.5367431640625e-07 1 100 1 1", scale, " ")
      split("W W MHz MHz MiB MiB °C % - -", unit, " ")
      while ((getline line < sections) > 0) { match(line, /[0-9]+/); device[substr(line, RSTART, RLENGTH)] = line }
    }
    {
      gpu = $1 + 0
      for (i = 1; i <= n; i++) {
        theirs = $(i + 1); gsub(/^ +| +$/, "", theirs)
        our = ours(device[gpu], name[i], scale[i])
        verdict = ""
        if (our == "none" || theirs !~ /^-?[0-9.]+$/) { if (our != "none" || theirs ~ /^-?[0-9.]+$/) verdict = "ONE OF THEM LACKS IT" }
        else { d = our - theirs; if (d < 0) d = -d; if (d > 0.05 * (theirs < 0 ? -theirs : theirs) && d > 1) verdict = "DIFFERS BY MORE THAN 5 %" }
        printf "  GPU %s  %-20s llmtop %10s  nvidia-smi %10s %-4s %s\n", gpu, name[i], our == "none" ? our : sprintf("%.1f", our), theirs, unit[i], verdict
      }
    }' "$theirs"
}
query=index,power.draw.instant,enforced.power.limit,clocks.sm,clocks.mem,memory.total,memory.used,temperature.gpu,utilization.gpu,pcie.link.gen.current,pcie.link.width.current
smi() { timeout -k 5 20 nvidia-smi --query-gpu="$1" --format=csv,noheader,nounits; }

name=busy
[ "$loaded" = yes ] || name=again
both "$name"
if [ "$gpus" = 0 ]; then
  say "no comparison: there is no GPU"
elif ! command -v nvidia-smi >/dev/null; then
  say "no comparison: there is no nvidia-smi"
else
  # Side by side, since a load is not the same a second later.
  (cd / && timeout -k 5 20 "$work/llmtop" doctor --json) >"$out/compared.json" 2>/dev/null &
  sleep 1.2
  smi "$query" >"$out/nvidia-smi.csv" 2>"$out/nvidia-smi.err" || smi "${query/power.draw.instant/power.draw}" >"$out/nvidia-smi.csv" 2>>"$out/nvidia-smi.err"
  timeout -k 5 20 nvidia-smi -q >"$out/nvidia-smi-$name.txt" 2>&1
  wait $!
  now_section "$out/compared.json" >"$work/sections"
  compare "$work/sections" "$out/nvidia-smi.csv" >"$out/compared.txt"
  say "llmtop and nvidia-smi: $(grep -c 'DIFFERS\|LACKS' "$out/compared.txt") of $(wc -l <"$out/compared.txt") numbers differ by more than 5 %"
  tee -a "$out/summary.txt" <"$out/compared.txt"
fi

say ""
say "== a recording of 20 s"
rm -f "$out/gpu-check.llmrec"
(cd / && timeout -k 5 40 "$work/llmtop" record -o "$out/gpu-check.llmrec" --duration 20s) >"$out/record.txt" 2>&1
say "llmtop record ended with status $?: $(tail -n 1 "$out/record.txt" | cut -c1-200)"
(cd / && timeout -k 5 20 "$work/llmtop" info "$out/gpu-check.llmrec") >"$out/info.txt" 2>&1
grep -iE '^(samples|events|size|duration) ' "$out/info.txt" | sed 's/^/  /' | tee -a "$out/summary.txt"
if [ -n "$load" ]; then kill "$load" 2>/dev/null; wait "$load" 2>/dev/null; load=; fi

say ""
say "== what doctor says is missing here"
sed -n '/^== what is missing/,$p' "$out/$name-$(id -un).txt" | tail -n +2 | tee -a "$out/summary.txt"
say ""
say "all of it is in $out"
