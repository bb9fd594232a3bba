#!/usr/bin/env bash
# Makes airlock_arginfo.h from airlock.stub.php, with gen_stub.php of php8.2-dev and Debian's php-parser.
#
#   arginfo.sh          write it
#   arginfo.sh --check  fail where it differs
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")"
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT

generator=/usr/lib/php/20220829/build/gen_stub.php
# It takes this version, and Debian's is a later one of the same series.
# shellcheck disable=SC2016  # That is PHP.
parser=$folder/$(sed -n 's/^ *\$version = "\([0-9.]*\)";$/PHP-Parser-\1/p' "$generator" | head -n 1)
mkdir -p "$parser/lib"
ln -s /usr/share/php/PhpParser "$parser/lib/PhpParser"
cp "$generator" airlock.stub.php "$folder/"
php8.2 -n -d extension=tokenizer "$folder/gen_stub.php" -f "$folder/airlock.stub.php" >"$folder/output" || {
  cat "$folder/output" >&2
  exit 1
}
if [[ ${1-} == --check ]]; then
  diff -u airlock_arginfo.h "$folder/airlock_arginfo.h" || {
    echo "error: airlock_arginfo.h is not what airlock.stub.php says; run bindings/php/arginfo.sh" >&2
    exit 1
  }
else
  cp "$folder/airlock_arginfo.h" .
fi
