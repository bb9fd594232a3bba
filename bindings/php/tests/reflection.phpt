--TEST--
Reflection says what the stub says: types everywhere, secrets marked, named arguments work
--FILE--
<?php
require 'support.inc';
$extension = new ReflectionExtension('airlock');
echo implode(' ', array_map(fn($class) => $class->getShortName(), $extension->getClasses())), "\n";
var_dump($extension->getVersion() === (new ReflectionExtension('airlock'))->getVersion(), array_keys($extension->getINIEntries()));
foreach ($extension->getClasses() as $class) {
    foreach ($class->getMethods() as $method) {
        if ($method->getDeclaringClass() != $class || $class->isSubclassOf(Throwable::class)) continue;
        if (!$method->hasReturnType() && $method->name !== '__construct') echo "no return type: $class->name::$method->name\n";
        foreach ($method->getParameters() as $parameter) {
            if (!$parameter->hasType()) echo "no type: $class->name::$method->name \$$parameter->name\n";
            if ($parameter->isOptional()) $parameter->getDefaultValue();
            $secret = in_array($parameter->name, ['store', 'uri', 'text']) || $parameter->name === 'token' && $class->name === 'Airlock\Lease';
            if ($secret !== (bool) $parameter->getAttributes(SensitiveParameter::class)) echo "secret? $class->name::$method->name \$$parameter->name\n";
        }
    }
}
echo new ReflectionMethod('Airlock\Bulkhead', '__construct');
(new Airlock\Bulkhead(maxConcurrent: 1, name: 'named', store: store(), renew: false))->call(work: fn() => print("called\n"));
final class Named extends Airlock\SemaphoreSeal {}
var_dump((new Named(store: store(), limit: 2, resource: 'waiting-room'))->tryAcquire()->getResource());
?>
--EXPECT--
Exception StoreException SealAcquiringException SealReleasingException LeaseExpiredException BulkheadFullException EventIsolationTimeoutException Store Lease Bulkhead Seal ReleasableSeal RefreshableSeal LockingSeal RateLimitingSeal SealToken LockSeal SemaphoreSeal RateLimiterSeal CooldownSeal CompositeSeal StorageKey EventIsolation
bool(true)
array(1) {
  [0]=>
  string(13) "airlock.store"
}
Method [ <internal:airlock, ctor> public method __construct ] {

  - Parameters [8] {
    Parameter #0 [ <required> string $name ]
    Parameter #1 [ <required> int $maxConcurrent ]
    Parameter #2 [ <optional> Airlock\Store|string|null $store = null ]
    Parameter #3 [ <optional> float $lease = 30.0 ]
    Parameter #4 [ <optional> float $maxWait = 0.0 ]
    Parameter #5 [ <optional> ?callable $onAccepted = null ]
    Parameter #6 [ <optional> ?callable $onRejected = null ]
    Parameter #7 [ <optional> bool $renew = false ]
  }
}
called
string(12) "waiting-room"
