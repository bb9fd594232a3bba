--TEST--
Stores: the default of php.ini, one handle per URI, closed ones, failures, secrets
--FILE--
<?php
require 'support.inc';
use Airlock\{Bulkhead, LockSeal, Store};

echo "-- the default\n";
var_dump(ini_get('airlock.store'));
ini_set('airlock.store', store_uri());
(new Bulkhead('by-default', 3))->call(fn() => var_dump((new Store())->counts('by-default')['inUse'], store()->counts('by-default')['inUse']));
ini_set('airlock.store', 'nonsense');
show_thrown(fn() => new Bulkhead('x', 1), fn() => new Store());
ini_restore('airlock.store');

echo "-- for operators\n";
$bulkhead = new Bulkhead('seen', 3, store());
$lease = $bulkhead->acquire();
$view = store()->look('seen');
var_dump($view['inUse'], $view['limit'], count($view['holders']), $view['holders'][0]['slot'], $view['waiters'], store()->look('unknown'));
store()->setLimit('seen', 1);
var_dump(store()->counts('seen')['overridden'], $bulkhead->tryAcquire(), $bulkhead->availableSlots());
store()->setLimit('seen', null);
var_dump($bulkhead->availableSlots(), store()->list());
var_dump(store()->revoke('seen', str_repeat('0', 32)), store()->revoke('seen', $view['holders'][0]['visitor'], true), store()->counts('seen')['inUse']);
show_thrown(fn() => $lease->release());
store()->pause('seen', 60.0, 'me');
var_dump(store()->look('seen')['pauses'][0]['reporter'], $bulkhead->tryAcquire(), store()->resume('seen'), store()->resume('seen', 'me'));
$rate = new Airlock\RateLimiterSeal('rated', '5/1h', store());
$rate->tryAcquire();
var_dump(store()->look('rated')['rates'][0]['remaining'], str_contains(store()->metrics(), 'by-default'), is_array(store()->doctor()));
var_dump(store()->purge('seen'), store()->purge('unknown'), store()->drain(1.0), store()->flush(1.0));

echo "-- detached and adopted\n";
$token = $bulkhead->acquire()->detach();
var_dump($token->getResource(), store()->counts('seen')['inUse']);
$adopted = Airlock\Lease::adopt($token, store(), 20.0);
var_dump($adopted->isValid());
$adopted->release();
show_thrown(fn() => Airlock\Lease::adopt((string) $token, store()), fn() => $adopted->detach());

echo "-- a store that fails\n";
$uri = 'redis+unix:///nowhere/at/all?timeout=100ms';
foreach ([fn() => (new Bulkhead('x', 1, $uri))->call(fn() => 1), fn() => (new LockSeal('x', 1.0, $uri))->tryAcquire(),
    fn() => (new Airlock\EventIsolation($uri))->lock('x'), fn() => (new Bulkhead('x', 1, $uri))->availableSlots()] as $work) {
    try {
        $work();
    } catch (Airlock\StoreException $e) {
        echo get_class($e), " $e->kind ", var_export($e->mayHaveHappened, true), "\n";
    }
}

echo "-- secrets are in no trace, text or dump\n";
try {
    new Store('redis://user:topsecret@host:port');
} catch (ValueError $e) {
    var_dump(str_contains((string) $e . print_r($e->getTrace(), true), 'topsecret'));
}
try {
    new Bulkhead('', 1, 'redis://user:topsecret@localhost');
} catch (ValueError $e) {
    var_dump(str_contains((string) $e . print_r($e->getTrace(), true), 'topsecret'));
}
$info = php('phpinfo(INFO_MODULES);', '-d', 'airlock.store=redis://user:topsecret@localhost/0');
var_dump(str_contains($info, 'topsecret'));
echo strstr(strstr($info, "\nairlock\n"), "\n\n", false) === false ? $info : implode("\n", array_filter(explode("\n", $info), fn($line) => preg_match('/airlock|Extension version/', $line))), "\n";

echo "-- closed\n";
$other = new Store(store_uri() . '&timeout=2s');
$bulkhead = new Bulkhead('closed', 1, $other);
$held = $bulkhead->acquire();
$other->close();
$other->close();
try {
    $bulkhead->call(fn() => 1);
} catch (Airlock\SealAcquiringException $e) {
    var_dump($e->kind);
}
$held->release();
$again = new Bulkhead('closed', 1, store_uri() . '&timeout=2s');
var_dump($again->call(fn() => 'another handle'));
show_thrown(fn() => clone $other, fn() => serialize($other), fn() => $other->__construct());
?>
--EXPECT--
-- the default
string(4) "shm:"
int(1)
int(1)
ValueError: store URI: it has no scheme; use memory:, shm:, redis://, rediss://, redis+unix://, redis+sentinel:// or redis+cluster://
ValueError: store URI: it has no scheme; use memory:, shm:, redis://, rediss://, redis+unix://, redis+sentinel:// or redis+cluster://
-- for operators
int(1)
int(3)
int(1)
int(0)
array(0) {
}
NULL
bool(true)
NULL
int(0)
int(2)
array(2) {
  [0]=>
  string(10) "by-default"
  [1]=>
  string(4) "seen"
}
int(0)
int(1)
int(0)
Airlock\SealReleasingException: The lease had already ended
string(2) "me"
NULL
bool(false)
bool(true)
int(4)
bool(true)
bool(true)
bool(true)
bool(false)
bool(true)
bool(true)
-- detached and adopted
string(4) "seen"
int(1)
bool(true)
Airlock\LeaseExpiredException: The lease of this token has ended
Airlock\LeaseExpiredException: The lease had already ended
-- a store that fails
Airlock\SealAcquiringException unavailable false
Airlock\SealAcquiringException unavailable false
Airlock\SealAcquiringException unavailable false
Airlock\StoreException unavailable false
-- secrets are in no trace, text or dump
bool(false)
bool(false)
bool(false)
airlock
airlock => enabled
Extension version => 0.9.0
libairlock-c version => 0.9.0
airlock.store => redis://...@localhost/0 => redis://...@localhost/0
-- closed
string(6) "closed"
string(14) "another handle"
Error: Trying to clone an uncloneable object of class Airlock\Store
Exception: Serialization of 'Airlock\Store' is not allowed
Error: An object of airlock is constructed once
