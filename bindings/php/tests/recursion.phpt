--TEST--
call() inside call() takes a slot each, and is bounded
--FILE--
<?php
require 'support.inc';
$bulkhead = new Airlock\Bulkhead('deep', 5000, store());
function deeper(Airlock\Bulkhead $bulkhead, int &$depth): void
{
    ++$depth;
    $bulkhead->call(function () use ($bulkhead, &$depth) { deeper($bulkhead, $depth); });
}
$depth = 0;
echo thrown(function () use ($bulkhead, &$depth) { deeper($bulkhead, $depth); }), "\n";
var_dump($depth, $bulkhead->availableSlots(), $bulkhead->call(fn() => 'again'));
$one = new Airlock\Bulkhead('one', 1, store());
$depth = 0;
echo thrown(function () use ($one, &$depth) { deeper($one, $depth); }), "\n";
var_dump($depth, $one->availableSlots());
?>
--EXPECT--
Error: Airlock\Bulkhead::call() is nested more than 1000 deep
int(1001)
int(5000)
string(5) "again"
Airlock\BulkheadFullException: Bulkhead "one" is full (max 1 concurrent)
int(2)
int(1)
