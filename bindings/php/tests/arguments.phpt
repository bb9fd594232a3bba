--TEST--
Bad arguments are TypeError and ValueError, name the parameter, and change nothing
--FILE--
<?php
declare(strict_types=1);
require 'support.inc';
use Airlock\{Bulkhead, CooldownSeal, EventIsolation, Lease, LockSeal, RateLimiterSeal, SemaphoreSeal, StorageKey, Store};

echo "-- names\n";
foreach (['', 'with space', "nul\0byte", "\xff\xfe", str_repeat('x', 201), 'a/b/c'] as $name) {
    $errors = [thrown(fn() => new Bulkhead($name, 1, store())), thrown(fn() => new LockSeal($name, store: store())),
        thrown(fn() => new RateLimiterSeal($name, '1/s', store())), thrown(fn() => store()->look($name)),
        thrown(fn() => store()->setLimit($name, 1)), thrown(fn() => store()->pause($name, 1.0))];
    var_dump(count(array_unique($errors)) === 1 && str_starts_with($errors[0], 'ValueError: '));
}

echo "-- limits\n";
foreach ([0, -1, PHP_INT_MIN, PHP_INT_MAX, 1 << 32] as $limit) {
    var_dump(thrown(fn() => new Bulkhead('x', $limit, store())) === 'ValueError: Airlock\Bulkhead::__construct(): Argument #2 ($maxConcurrent) must be between 1 and 4294967295');
    var_dump(str_starts_with(thrown(fn() => new SemaphoreSeal('x', $limit, 1, 1.0, store())), 'ValueError: '));
    var_dump(str_starts_with(thrown(fn() => new SemaphoreSeal('x', 1, $limit, 1.0, store())), 'ValueError: '));
}
show_thrown(fn() => store()->setLimit('x', -1), fn() => store()->setLimit('x', 1 << 32), fn() => new SemaphoreSeal('x', 2, 3, 1.0, store()));

echo "-- durations\n";
foreach ([NAN, INF, -INF, -1.0, 0.0, 1e300, -0.0, 1e10] as $seconds) {
    $errors = [thrown(fn() => new Bulkhead('x', 1, store(), lease: $seconds)), thrown(fn() => new LockSeal('x', $seconds, store())),
        thrown(fn() => new SemaphoreSeal('x', 1, 1, $seconds, store())), thrown(fn() => new CooldownSeal('x', $seconds, store())),
        thrown(fn() => new EventIsolation(store(), $seconds)), thrown(fn() => store()->pause('x', $seconds))];
    foreach ($errors as $error) {
        if (!preg_match('/^ValueError: Airlock.*Argument #\d \(\$\w+\) must be a number of seconds/', $error)) echo "$seconds: $error\n";
    }
}
show_thrown(fn() => new Bulkhead('x', 1, store(), maxWait: NAN), fn() => new Bulkhead('x', 1, store(), maxWait: -1), fn() => new EventIsolation(store(), 1.0, INF),
    fn() => store()->drain(-1), fn() => store()->flush(NAN), fn() => Lease::adopt('x', store(), INF));
var_dump((new Bulkhead('tiny', 1, store(), lease: 365 * 86400, maxWait: 1e-9))->call(fn() => 'long'));

echo "-- types\n";
show_thrown(fn() => new Bulkhead('x', '1', store()), fn() => new Bulkhead('x', 1.5, store()), fn() => new Bulkhead([], 1), fn() => new Bulkhead(), fn() => new Bulkhead('x', 1, store: 5),
    fn() => new Bulkhead('x', 1, store: new stdClass()), fn() => new Bulkhead('x', 1, store(), onAccepted: 'no such function'), fn() => (new Bulkhead('x', 1, store()))->call('no such function'),
    fn() => (new Bulkhead('x', 1, store()))->call(), fn() => new RateLimiterSeal('x', [], store()), fn() => new RateLimiterSeal('x', [1], store()),
    fn() => new RateLimiterSeal('x', array_fill(0, 17, '1/s'), store()), fn() => new RateLimiterSeal('x', 'often', store()), fn() => new RateLimiterSeal('x', ['1/s', "\xff"], store()),
    fn() => new StorageKey('1', 2, 3), fn() => (new EventIsolation(store()))->lock(5), fn() => new EventIsolation(store(), separator: ''), fn() => store()->revoke('x', 'nobody'),
    fn() => Lease::adopt('no token', store()));
$reference = ['1/s'];
$one = &$reference[0];
var_dump((new RateLimiterSeal('by-reference', $reference, store()))->tryAcquire() !== null);

echo "-- nothing has changed\n";
var_dump(store()->list());
?>
--EXPECT--
-- names
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
-- limits
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
ValueError: Airlock\Store::setLimit(): Argument #2 ($limit) must be between 0 and 4294967295
ValueError: Airlock\Store::setLimit(): Argument #2 ($limit) must be between 0 and 4294967295
ValueError: weight 3: 1 to the limit, 2
-- durations
ValueError: Airlock\Bulkhead::__construct(): Argument #5 ($maxWait) must be a number of seconds, 0 or more and at most 1e9
ValueError: Airlock\Bulkhead::__construct(): Argument #5 ($maxWait) must be a number of seconds, 0 or more and at most 1e9
ValueError: Airlock\EventIsolation::__construct(): Argument #3 ($acquireTimeoutSeconds) must be a number of seconds, 0 or more and at most 1e9
ValueError: Airlock\Store::drain(): Argument #1 ($seconds) must be a number of seconds, 0 or more and at most 1e9
ValueError: Airlock\Store::flush(): Argument #1 ($seconds) must be a number of seconds, 0 or more and at most 1e9
ValueError: Airlock\Lease::adopt(): Argument #3 ($lease) must be a number of seconds, above 0 and at most 1e9
string(4) "long"
-- types
TypeError: Airlock\Bulkhead::__construct(): Argument #2 ($maxConcurrent) must be of type int, string given
TypeError: Airlock\Bulkhead::__construct(): Argument #2 ($maxConcurrent) must be of type int, float given
TypeError: Airlock\Bulkhead::__construct(): Argument #1 ($name) must be of type string, array given
ArgumentCountError: Airlock\Bulkhead::__construct() expects at least 2 arguments, 0 given
TypeError: Airlock\Bulkhead::__construct(): Argument #3 ($store) must be of type Airlock\Store|string|null, int given
TypeError: Airlock\Bulkhead::__construct(): Argument #3 ($store) must be of type Airlock\Store|string|null, stdClass given
TypeError: Airlock\Bulkhead::__construct(): Argument #6 ($onAccepted) must be a valid callback or null, function "no such function" not found or invalid function name
TypeError: Airlock\Bulkhead::call(): Argument #1 ($work) must be a valid callback, function "no such function" not found or invalid function name
ArgumentCountError: Airlock\Bulkhead::call() expects exactly 1 argument, 0 given
ValueError: Airlock\RateLimiterSeal::__construct(): Argument #2 ($rates) must have between 1 and 16 rates
TypeError: Airlock\RateLimiterSeal::__construct(): Argument #2 ($rates) must be a list of strings, int found
ValueError: Airlock\RateLimiterSeal::__construct(): Argument #2 ($rates) must have between 1 and 16 rates
ValueError: rate "often": count/period is needed, such as 100/s
ValueError: rate "\xff": count/period is needed, such as 100/s
TypeError: Airlock\StorageKey::__construct(): Argument #1 ($botId) must be of type int, string given
TypeError: Airlock\EventIsolation::lock(): Argument #1 ($key) must be of type Airlock\StorageKey|string, int given
ValueError: Airlock\EventIsolation::__construct(): Argument #6 ($separator) cannot be empty
ValueError: Airlock\Store::revoke(): Argument #2 ($visitor) must be a visitor as look() shows it: 32 hexadecimal digits
ValueError: token: truncated or altered; use the text exactly as airlock wrote it
bool(true)
-- nothing has changed
array(2) {
  [0]=>
  string(12) "by-reference"
  [1]=>
  string(4) "tiny"
}
