--TEST--
The adapters implement the interfaces of the seeds, and are loaded only where these exist
--FILE--
<?php
require 'support.inc';
require '../adapters/autoload.php';
var_dump(array_filter(get_declared_classes(), fn($class) => str_starts_with($class, 'Airlock\Adapter')));

// What the packages declare.
eval('namespace Rasuvaeff\Duration; final class Duration {
    private function __construct(private int $ms) {}
    static function millis(int $ms): self { return new self($ms); }
    function toMillis(): int { return $this->ms; } }');
eval('namespace Rasuvaeff\Bulkhead; use Rasuvaeff\Duration\Duration; interface BulkheadStore {
    public function tryAcquire(string $name, int $maxConcurrent, Duration $lease): ?string;
    public function release(string $name, string $token): void;
    public function activeCount(string $name): int; }');
eval('namespace Clegginabox\Airlock\Seal; interface SealToken extends \Stringable {
    public function getResource(): string; public function getId(): string; }
    interface PortableToken extends SealToken {}
    interface Seal { public function tryAcquire(): ?SealToken; }
    interface LockingSeal extends Seal {} interface RateLimitingSeal extends Seal {}
    interface ReleasableSeal { public function release(SealToken $token): void; }
    interface RefreshableSeal { public function refresh(SealToken $token, ?float $ttlInSeconds = null): SealToken; }');
eval('namespace Clegginabox\Airlock\Exception; class SealAcquiringException extends \RuntimeException {}
    class SealReleasingException extends \RuntimeException {}
    class LeaseExpiredException extends \RuntimeException {
        public function __construct(string $token, string $message) {
            parent::__construct(\sprintf(\'The lease "%s" has expired: %s.\', $token, $message)); } }');

echo "-- rasuvaeff/bulkhead\n";
$store = new Airlock\Adapter\BulkheadStore(store());
$lease = Rasuvaeff\Duration\Duration::millis(5000);
$one = $store->tryAcquire('api', 2, $lease);
$two = $store->tryAcquire('api', 2, $lease);
var_dump($one !== $two, $store->tryAcquire('api', 2, $lease), $store->activeCount('api'));
$store->release('api', $one);
$store->release('api', $one);
$store->release('other', $two);
var_dump($store->activeCount('api'), $store->activeCount('none'));

echo "-- clegginabox/airlock-php\n";
$seal = new Airlock\Adapter\LockingSeal(new Airlock\LockSeal('room', 60.0, store()));
$token = $seal->tryAcquire();
var_dump($seal->tryAcquire(), $token->getResource(), $token instanceof Clegginabox\Airlock\Seal\PortableToken);
$token = unserialize(serialize($seal->refresh($token, 10.0)));
$seal->release($token);
show_thrown(fn() => $seal->release($token), fn() => $seal->refresh($token));
$rate = new Airlock\Adapter\RateLimitingSeal(new Airlock\RateLimiterSeal('calls', '1/1h', store()));
var_dump((string) $rate->tryAcquire(), $rate->tryAcquire());
$broken = new Airlock\Adapter\LockingSeal(new Airlock\LockSeal('room', 60.0, 'redis+unix:///nowhere/at/all?timeout=100ms'));
var_dump(strstr(thrown(fn() => $broken->tryAcquire()), ':', true));
$other = new class implements Clegginabox\Airlock\Seal\SealToken {
    function getResource(): string { return ''; } function getId(): string { return 'other'; } function __toString(): string { return ''; } };
show_thrown(fn() => $seal->release($other), fn() => $seal->refresh($other));
?>
--EXPECTF--
array(0) {
}
-- rasuvaeff/bulkhead
bool(true)
NULL
int(2)
int(1)
int(0)
-- clegginabox/airlock-php
NULL
string(4) "room"
bool(true)
Clegginabox\Airlock\Exception\SealReleasingException: The admission had already ended
Clegginabox\Airlock\Exception\LeaseExpiredException: The lease "%x" has expired: The admission has ended.
string(0) ""
NULL
string(52) "Clegginabox\Airlock\Exception\SealAcquiringException"
Clegginabox\Airlock\Exception\SealReleasingException: A token of another kind of seal
Clegginabox\Airlock\Exception\LeaseExpiredException: The lease "other" has expired: it is of another kind of seal.
