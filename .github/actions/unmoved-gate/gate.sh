#!/usr/bin/env bash
# What the action runs, and what any other CI can run: `unmoved gate` from UNMOVED_GATE_BASE to UNMOVED_GATE_HEAD, with
# annotations on stdout and the other reports as files in UNMOVED_GATE_REPORTS. The exit status is the gate's.
set -euo pipefail

base=${UNMOVED_GATE_BASE:-}
head=${UNMOVED_GATE_HEAD:-HEAD}
reports=${UNMOVED_GATE_REPORTS:-.}
branch=${DEFAULT_BRANCH:-main}

# A branch that is pushed for the first time has nothing before it: git says so with zeros.
if [ -z "${base//0/}" ]; then
  base=$(git merge-base "$head" "origin/$branch" 2>/dev/null) || {
    echo "gate: no base is known: set UNMOVED_GATE_BASE, or fetch origin/$branch (fetch-depth: 0)" >&2
    exit 2
  }
fi
if [ "$(git rev-parse "$base^{commit}")" = "$(git rev-parse "$head^{commit}")" ]; then
  echo "gate: $head is the base itself: there is no commit to look at"
  exit 0
fi

for name in sarif junit markdown html; do
  case $name in junit) suffix=xml ;; markdown) suffix=md ;; *) suffix=$name ;; esac
  [ -z "${GITHUB_OUTPUT:-}" ] || echo "$name=$reports/unmoved-gate.$suffix" >>"$GITHUB_OUTPUT"
done

# shellcheck disable=SC2086  # arguments are words
exec unmoved gate "$base..$head" ${UNMOVED_GATE_ARGUMENTS:-} \
  --format sarif --output "$reports/unmoved-gate.sarif" \
  --format junit --output "$reports/unmoved-gate.xml" \
  --format markdown --output "$reports/unmoved-gate.md" \
  --format html --output "$reports/unmoved-gate.html" \
  --format github
