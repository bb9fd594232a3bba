--TEST--
What docs/php.md shows
--FILE--
<?php
require 'support.inc';
ini_set('airlock.store', store_uri());
require '../examples/quickstart.php';
?>
--EXPECTF--
17 rows
slot 0 for 9.%d s at most
refused: full
