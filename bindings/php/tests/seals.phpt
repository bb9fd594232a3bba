--TEST--
Seals: ask once, tokens travel, and each failure has its exception
--FILE--
<?php
require 'support.inc';
use Airlock\{CompositeSeal, CooldownSeal, LockSeal, RateLimiterSeal, SealToken, SemaphoreSeal};

$lock = new LockSeal('my-resource', store: store(), ttlInSeconds: 300.0);
$token = $lock->tryAcquire();
var_dump($lock->tryAcquire(), $token->getResource(), strlen($token->getId()), (string) $token === "$token");
var_dump($lock->isAcquired($token), $lock->isExpired($token), $lock->getRemainingLifetime($token) > 290);

echo "-- a token travels as text and serialized\n";
$parsed = SealToken::parse((string) $token);
var_dump($parsed->getId() === $token->getId(), $lock->isAcquired($parsed), $lock->isExpired($parsed), $lock->getRemainingLifetime($parsed));
$travelled = unserialize(serialize($token));
var_dump($lock->refresh($travelled, 10.0) === $travelled, $lock->getRemainingLifetime($travelled) < 10.1);
$lock->release($travelled);
var_dump($lock->isAcquired($token), $lock->isExpired($parsed));

echo "-- too late\n";
show_thrown(fn() => $lock->release($token), fn() => $lock->refresh($token));

echo "-- of another gate\n";
$semaphore = new SemaphoreSeal('site_capacity', limit: 3, weight: 2, store: store(), ttlInSeconds: 300.0);
$token = $semaphore->tryAcquire();
var_dump($semaphore->tryAcquire(), $lock->isAcquired($token));
show_thrown(fn() => $lock->release($token), fn() => $lock->refresh($token));
var_dump($semaphore->isAcquired($token));
$semaphore->release($token);

echo "-- rates\n";
$rate = new RateLimiterSeal('api-calls', ['2/1h', '100/s'], store: store());
$token = $rate->tryAcquire();
var_dump($token->getResource(), (string) $token, strlen($token->getId()), $rate->tryAcquire() !== null, $rate->tryAcquire());
show_thrown(fn() => serialize($token), fn() => $lock->release($token));
$cooldown = new CooldownSeal('mail', 3600.0, store());
var_dump($cooldown->tryAcquire() !== null, $cooldown->tryAcquire());

echo "-- both\n";
$both = new CompositeSeal(lockingSeal: $semaphore, rateLimitingSeal: new RateLimiterSeal('per-user', '2/1h', store()));
$token = $both->tryAcquire();
var_dump($token->getResource());
$both->release($token);
$both->release($both->tryAcquire());
var_dump($both->tryAcquire(), store()->counts('site_capacity')['inUse']);

echo "-- what is what\n";
var_dump($lock instanceof Airlock\LockingSeal, $lock instanceof Airlock\ReleasableSeal, $lock instanceof Airlock\RefreshableSeal,
    $rate instanceof Airlock\RateLimitingSeal, $rate instanceof Airlock\ReleasableSeal, $both instanceof Airlock\Seal);
show_thrown(
    fn() => new CompositeSeal($lock, $semaphore), fn() => new CompositeSeal($rate, $rate),
    fn() => SealToken::parse('no token'), fn() => SealToken::parse(''), fn() => new SealToken(),
    fn() => unserialize('O:17:"Airlock\SealToken":1:{s:5:"token";s:1:"x";}'),
    fn() => unserialize('O:17:"Airlock\SealToken":0:{}'), fn() => $token->__unserialize(['token' => (string) $token]),
    fn() => $lock->refresh($token, NAN), fn() => (new class extends LockSeal { function __construct() {} })->tryAcquire());
var_dump($token);
?>
--EXPECTF--
NULL
string(11) "my-resource"
int(32)
bool(true)
bool(true)
bool(false)
bool(true)
-- a token travels as text and serialized
bool(true)
bool(true)
bool(false)
NULL
bool(true)
bool(true)
bool(false)
bool(true)
-- too late
Airlock\SealReleasingException: The admission had already ended
Airlock\LeaseExpiredException: The admission has ended
-- of another gate
NULL
bool(false)
Airlock\SealReleasingException: the token belongs to another gate or store
Airlock\LeaseExpiredException: %s
bool(true)
-- rates
string(9) "api-calls"
string(0) ""
int(32)
bool(true)
NULL
Airlock\Exception: A token of a rate limit cannot be serialized: there is nothing to release
Airlock\SealReleasingException: %s
bool(true)
NULL
-- both
string(13) "site_capacity"
NULL
int(0)
-- what is what
bool(true)
bool(true)
bool(true)
bool(true)
bool(false)
bool(true)
TypeError: Airlock\CompositeSeal::__construct(): Argument #2 ($rateLimitingSeal) must be of type Airlock\RateLimiterSeal|Airlock\CooldownSeal, Airlock\SemaphoreSeal given
TypeError: Airlock\CompositeSeal::__construct(): Argument #1 ($lockingSeal) must be of type Airlock\LockSeal|Airlock\SemaphoreSeal, Airlock\RateLimiterSeal given
ValueError: %s
ValueError: %s
Error: Call to private Airlock\SealToken::__construct() from global scope
ValueError: %s
ValueError: This is no serialized Airlock\SealToken
Error: An object of airlock is constructed once
ValueError: Airlock\LockSeal::refresh(): Argument #2 ($ttlInSeconds) must be a number of seconds, above 0 and at most 1e9
Error: Airlock\LockSeal@anonymous is not constructed: a constructor must call parent::__construct()
object(Airlock\SealToken)#%d (0) {
}
