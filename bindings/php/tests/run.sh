#!/usr/bin/env bash
# Runs the .phpt tests of this folder with PHP's own run-tests.php, in a folder that is removed afterwards.
#
#   run.sh EXTENSION [TEST.phpt...]
set -euo pipefail

AIRLOCK_PHP_EXTENSION=$(realpath "$1")
shift
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp -r "$(dirname "${BASH_SOURCE[0]}")" "$folder/tests"
cp -r "$(dirname "${BASH_SOURCE[0]}")"/../{adapters,examples} "$folder/"
# It writes where it is.
cp "$(find /usr/lib/php/20220829 -name run-tests.php)" "$folder/"
cd "$folder/tests"
if (($#)); then tests=("${@##*/}"); else tests=(*.phpt); fi

export AIRLOCK_PHP_EXTENSION AIRLOCK_TEST_DIR=$folder NO_INTERACTION=1 REPORT_EXIT_STATUS=1 SKIP_ONLINE_TESTS=1
php=$(command -v php8.2)
"$php" -n "$folder/run-tests.php" -n -q -p "$php" --show-diff \
  -d "extension=$AIRLOCK_PHP_EXTENSION" -d extension=posix "${tests[@]}" >"$folder/output" 2>&1 || {
  cat "$folder/output"
  exit 1
}
grep -E '^(PASS|SKIP|Tests )' "$folder/output"
# A skipped test would say nothing.
! grep -q '^SKIP' "$folder/output"
