--TEST--
EventIsolation: one handler per key, keys from parts, and a timeout that names both
--FILE--
<?php
require 'support.inc';
use Airlock\{EventIsolation, StorageKey};

$isolation = new EventIsolation(store(), lockTtlSeconds: 60.0, acquireTimeoutSeconds: 0.0);
$held = $isolation->lock('chat:42');
var_dump($held instanceof Airlock\Lease, $held->isValid());
try {
    $isolation->lock('chat:42');
} catch (Airlock\EventIsolationTimeoutException $e) {
    var_dump($e->getMessage(), $e->key, $e->timeout);
}
$other = $isolation->lock('chat:43');
$held->release();
$held = $isolation->lock('chat:42');
$isolation->close();
var_dump($held->isValid());

echo "-- any bytes are a key\n";
$bytes = $isolation->lock("\0\xff\xfe");
show_thrown(fn() => $isolation->lock("\0\xff\xfe"));
$empty = $isolation->lock('');

echo "-- keys of parts\n";
$key = new StorageKey(1, 2, 3);
$held = $isolation->lock($key);
show_thrown(fn() => $isolation->lock(new StorageKey(9, 2, 3)));
foreach ([new StorageKey(1, 2, 4), new StorageKey(1, 2, 3, 5), $key->withDestiny('other')] as $other) {
    var_dump($isolation->lock($other)->isValid());
}
$all = new EventIsolation(store(), 60.0, 0.0, prefix: 'p', separator: '/', withBotId: true, withBusinessConnectionId: true, withDestiny: true);
$held = $all->lock(new StorageKey(1, 2, 3, 4, 'business', 'destiny'));
show_thrown(fn() => $all->lock(new StorageKey(1, 2, 3, 4, 'business', 'destiny')));
var_dump($all->lock(new StorageKey(9, 2, 3, 4, 'business', 'destiny'))->isValid(), $all->lock(new StorageKey(1, 2, 3, 4, 'other', 'destiny'))->isValid());

echo "-- a key is readonly\n";
var_dump($key->threadId, $key->destiny, $key->withDestiny('x')->destiny, $key->withDestiny('x')->chatId);
show_thrown(fn() => $key->chatId = 5, fn() => $key->__construct(5, 6, 7), fn() => $isolation->lock((new ReflectionClass($key))->newInstanceWithoutConstructor()));
var_dump($key->chatId);
?>
--EXPECTF--
bool(true)
bool(true)
string(45) "The key "chat:42" was not free within 0.000 s"
string(7) "chat:42"
float(0)
bool(true)
-- any bytes are a key
Airlock\EventIsolationTimeoutException: The key "" was not free within 0.000 s
-- keys of parts
Airlock\EventIsolationTimeoutException: The key "fsm:2:3" was not free within 0.000 s
bool(true)
bool(true)
bool(true)
Airlock\EventIsolationTimeoutException: The key "p/b1/cbusiness/2/t4/3/ddestiny" was not free within 0.000 s
bool(true)
bool(true)
-- a key is readonly
NULL
string(7) "default"
string(1) "x"
int(2)
Error: Cannot modify readonly property Airlock\StorageKey::$chatId
Error: Cannot modify readonly property Airlock\StorageKey::$botId
Error: Airlock\StorageKey is not constructed: a constructor must call parent::__construct()
int(2)
