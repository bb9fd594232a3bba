--TEST--
Bulkhead: admits up to its limit, says why it refuses, and gives back
--FILE--
<?php
require 'support.inc';
$bulkhead = new Airlock\Bulkhead('legacy-api', 2, store: store(), lease: 5.0);

var_dump($bulkhead->call(fn() => 'value'), $bulkhead->name(), $bulkhead->maxConcurrent());
var_dump($bulkhead->call(fn() => $bulkhead->availableSlots()), $bulkhead->availableSlots());

echo "-- an exception of the work passes, and the slot is free\n";
echo thrown(fn() => $bulkhead->call(fn() => throw new DomainException('mine'))), "\n";
var_dump($bulkhead->availableSlots());

echo "-- work that requires a parameter gets the lease, which ends with it\n";
$kept = null;
var_dump($bulkhead->call(function (Airlock\Lease $lease) use (&$kept) {
    $kept = $lease;
    return [$lease->isValid(), $lease->fence() > 0, $lease->slot(), $lease->getRemainingLifetime() > 4];
}));
var_dump($kept->isValid(), $kept->getRemainingLifetime(), $kept->slot(), $kept->fence());
var_dump($bulkhead->call(fn($optional = 'default') => $optional));
var_dump($bulkhead->call('gettype') === 'object', is_int($bulkhead->call('getmypid')));

echo "-- leases\n";
$one = $bulkhead->acquire();
$two = $bulkhead->tryAcquire();
var_dump($bulkhead->availableSlots(), $bulkhead->tryAcquire(), $one->slot(), $two->slot());
$one->release();
$one->release();
var_dump($bulkhead->availableSlots());
$one = $bulkhead->acquire();
unset($two);
var_dump($bulkhead->availableSlots());
$two = $bulkhead->acquire();

echo "-- refused\n";
try {
    $bulkhead->call(fn() => 1);
} catch (Airlock\BulkheadFullException $e) {
    var_dump($e->getMessage(), $e->name, $e->maxConcurrent, $e->reason, $e->waited < 1, $e->retryAfter > 0);
    var_dump($e instanceof Airlock\Exception, $e instanceof RuntimeException);
}
store()->pause('legacy-api', 60.0);
$two = null;
echo thrown(fn() => $bulkhead->acquire()), "\n";
store()->resume('legacy-api');

echo "-- waits, and says for how long\n";
$two = $bulkhead->acquire();
$waits = new Airlock\Bulkhead('legacy-api', 2, store_uri(), 5.0, 0.1);
try {
    $waits->call(fn() => 1);
} catch (Airlock\BulkheadFullException $e) {
    var_dump($e->reason, $e->waited >= 0.1);
}
var_dump($waits->tryAcquire());

echo "-- unserializable, not to be cloned, constructed once\n";
show_thrown(fn() => serialize($bulkhead), fn() => serialize($one), fn() => clone $bulkhead, fn() => clone $one,
    fn() => $bulkhead->__construct('x', 1), fn() => new Airlock\Lease());
var_dump($bulkhead);
class Careless extends Airlock\Bulkhead { public function __construct() {} }
show_thrown(fn() => (new Careless())->call(fn() => 1), fn() => (new Careless())->acquire(), fn() => (new Careless())->name(),
    fn() => (new Careless())->tryAcquire(), fn() => (new Careless())->availableSlots(), fn() => (new Careless())->maxConcurrent());
?>
--EXPECTF--
string(5) "value"
string(10) "legacy-api"
int(2)
int(1)
int(2)
-- an exception of the work passes, and the slot is free
DomainException: mine
int(2)
-- work that requires a parameter gets the lease, which ends with it
array(4) {
  [0]=>
  bool(true)
  [1]=>
  bool(true)
  [2]=>
  int(0)
  [3]=>
  bool(true)
}
bool(false)
float(0)
NULL
int(0)
string(7) "default"
bool(true)
bool(true)
-- leases
int(0)
NULL
int(0)
int(1)
int(1)
int(1)
-- refused
string(48) "Bulkhead "legacy-api" is full (max 2 concurrent)"
string(10) "legacy-api"
int(2)
string(4) "full"
bool(true)
bool(true)
bool(true)
bool(true)
Airlock\BulkheadFullException: Bulkhead "legacy-api" refused: paused (max 2 concurrent)
-- waits, and says for how long
string(4) "late"
bool(true)
NULL
-- unserializable, not to be cloned, constructed once
Exception: Serialization of 'Airlock\Bulkhead' is not allowed
Exception: Serialization of 'Airlock\Lease' is not allowed
Error: Trying to clone an uncloneable object of class Airlock\Bulkhead
Error: Trying to clone an uncloneable object of class Airlock\Lease
Error: An object of airlock is constructed once
Error: Call to private Airlock\Lease::__construct() from global scope
object(Airlock\Bulkhead)#%d (0) {
}
Error: Careless is not constructed: a constructor must call parent::__construct()
Error: Careless is not constructed: a constructor must call parent::__construct()
Error: Careless is not constructed: a constructor must call parent::__construct()
Error: Careless is not constructed: a constructor must call parent::__construct()
Error: Careless is not constructed: a constructor must call parent::__construct()
Error: Careless is not constructed: a constructor must call parent::__construct()
