#!/usr/bin/env bash
# Runs memcheck.php under valgrind: nothing is leaked and nothing is read that is not there.
#
#   memcheck.sh EXTENSION
set -euo pipefail

AIRLOCK_PHP_EXTENSION=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$(dirname "${BASH_SOURCE[0]}")"

export AIRLOCK_PHP_EXTENSION AIRLOCK_TEST_DIR=$folder USE_ZEND_ALLOC=0 ZEND_DONT_UNLOAD_MODULES=1
php=$(command -v php8.2)
run() {
  local kinds=$1 ending=$2 status=0
  valgrind -q --error-exitcode=9 --leak-check=full --errors-for-leak-kinds="$kinds" --show-leak-kinds=definite \
    --log-file="$folder/log" "$php" -n -d "extension=$AIRLOCK_PHP_EXTENSION" -d airlock.store=memory: -d display_errors=0 \
    memcheck.php "$ending" >"$folder/output" 2>&1 || status=$?
  # PHP itself exits with 255 after an uncaught exception and a fatal error.
  case $ending:$status in
    normal:0 | exit:0 | throw:255 | error:255) ;;
    *) fail "memcheck.php $ending exits with $status" ;;
  esac
}

fail() {
  echo "error: $1" >&2
  cat "$folder/output" "$folder/log" >&2
  exit 1
}

for ending in normal exit throw; do
  run definite "$ending"
  [[ ! -s $folder/log ]] || fail "valgrind found something at the end '$ending'"
done
# A fatal error leaves what PHP has allocated; what the library has is given back all the same.
run none error
if grep -qE 'Invalid|uninitialised| airlock_' "$folder/log"; then fail "valgrind found something at the end 'error'"; fi
echo "valgrind finds nothing"
