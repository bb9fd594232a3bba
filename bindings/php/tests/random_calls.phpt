--TEST--
Random calls with random arguments end in a value or in an exception of the language
--FILE--
<?php
// AIRLOCK_RANDOM_CALLS=1000000 makes as many; AIRLOCK_RANDOM_SEED repeats what failed.
require 'support.inc';
$calls = (int) (getenv('AIRLOCK_RANDOM_CALLS') ?: 20_000);
$seed = (int) (getenv('AIRLOCK_RANDOM_SEED') ?: random_int(1, PHP_INT_MAX));
mt_srand($seed);
error_reporting(E_ALL & ~E_DEPRECATED);

$objects = [];
$uris = [store_uri(), store_uri(), null, 'memory:', 'shm:' . str_repeat('x', 300), "shm:\0", 'redis://', '', "\xff"];
ini_set('airlock.store', store_uri());
function pick(array $from): mixed { return $from[array_rand($from)]; }
function value(): mixed
{
    global $objects, $uris;
    return match (mt_rand(0, 13)) {
        0 => pick([0, 1, 2, 3, -1, PHP_INT_MAX, PHP_INT_MIN, 1 << 32]),
        1 => pick([0.0, 0.001, 1.5, -1.0, NAN, INF, -INF, 1e300, 1e-300]),
        2 => pick(['', 'a', 'b', 'group/a', "nul\0", "\xff", str_repeat('y', 500), '1/s', '3/1h,sliding']),
        3 => pick([null, true, false]),
        4, 5 => pick($uris),
        6 => pick([[], ['1/s'], ['5/1h', '1/s'], [[]], [new stdClass()]]),
        7 => pick([fn() => 1, fn($x) => $x, fn() => throw new LogicException(), 'strlen', fn(...$x) => pick($x ?: [1]), fn() => random_call(), fn() => gc_collect_cycles()]),
        8, 9, 10, 11 => $objects ? pick($objects) : null,
        12 => new Airlock\StorageKey(mt_rand(1, 2), 2, 3),
        default => pick(['a', 'b', 'c']),
    };
}
// Mostly what the parameter is for, else anything.
function argument(ReflectionParameter $parameter): mixed
{
    global $objects;
    if (mt_rand(0, 9) === 0) {
        return value();
    }
    $type = (string) $parameter->getType();
    $fits = array_filter($objects, fn($object) => str_contains($type, get_class($object)));
    return match (true) {
        $fits && mt_rand(0, 3) > 0 => pick($fits),
        $parameter->name === 'rates' => pick(['1/s', ['100/s', '1000/1h'], '5/1h,sliding']),
        in_array($parameter->name, ['store', 'uri']) => store_uri(),
        str_contains($type, 'callable') => pick([fn() => 1, fn($x) => $x, fn() => throw new LogicException(), fn() => random_call(), fn(...$x) => gc_collect_cycles()]),
        $parameter->name === 'maxWait' || str_contains($parameter->name, 'imeout') => pick([0.0, 0.0001]),
        str_contains($type, 'float') => pick([0.001, 0.5, 10.0]),
        str_contains($type, 'int') => pick([1, 2, 3]),
        str_contains($type, 'bool') => false,
        default => pick(['a', 'b', 'group/c']),
    };
}
function random_call(): mixed
{
    global $objects, $methods;
    static $depth = 0;
    if ($depth > 3) {
        return null;
    }
    ++$depth;
    try {
        [$class, $method] = pick($methods);
        $arguments = [];
        $parameters = (new ReflectionMethod($class, $method))->getParameters();
        $most = mt_rand(0, 9) === 0 ? 0 : count($parameters);
        foreach (array_slice($parameters, 0, $most) as $parameter) {
            $arguments[] = argument($parameter);
        }
        // Nothing waits for long.
        $waits = ['Airlock\Bulkhead::__construct' => 4, 'Airlock\EventIsolation::__construct' => 2, 'Airlock\Store::drain' => 0, 'Airlock\Store::flush' => 0];
        if (count($arguments) > ($at = $waits["$class::$method"] ?? 100)) {
            $arguments[$at] = pick([0.0, 0.0, 0.0001, -1.0, NAN, INF]);
        } elseif ($class === 'Airlock\EventIsolation') {
            $arguments = $method === '__construct' ? [store(), 0.001] : $arguments;
        }
        $result = null;
        if ($method === '__construct') {
            $result = mt_rand(0, 9) === 0 && $objects ? pick($objects)->__construct(...$arguments) : new $class(...$arguments);
        } elseif ((new ReflectionMethod($class, $method))->isStatic()) {
            $result = $class::$method(...$arguments);
        } else {
            $own = array_filter($objects, fn($object) => $object instanceof $class);
            $result = $own ? pick($own)->$method(...$arguments) : null;
        }
        if (is_object($result) && str_starts_with(get_class($result), 'Airlock\\')) {
            $objects[mt_rand(0, 60)] = $result;
        }
        return $result;
    } catch (Airlock\Exception | TypeError | ValueError | LogicException $e) {
        return null;
    } catch (Error | Exception $e) {
        $known = 'constructed|private|readonly|not allowed|uncloneable|nested|Unknown named|must be compatible';
        if (!preg_match("/$known/", $e->getMessage())) {
            echo get_class($e), ': ', $e->getMessage(), "\n";
        }
        return null;
    } finally {
        --$depth;
    }
}

$methods = [];
foreach ((new ReflectionExtension('airlock'))->getClasses() as $class) {
    if ($class->isInterface() || $class->isSubclassOf(Throwable::class)) continue;
    foreach ($class->getMethods(ReflectionMethod::IS_PUBLIC) as $method) {
        $methods[] = [$class->name, $method->name];
    }
    $methods[] = [$class->name, '__construct'];
}
for ($call = 0; $call < $calls; ++$call) {
    random_call();
    if ($call % 1000 === 999) {
        unset($objects[array_key_first($objects)]);
        store()->purge('a');
    }
}
$objects = [];
gc_collect_cycles();
echo "$call calls\n";
?>
--EXPECTF--
%d calls
