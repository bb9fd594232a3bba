<?php
// The example of docs/php.md.

declare(strict_types=1);

function query(): int
{
    return 17;
}

// [quickstart]
$erp = new Airlock\Bulkhead('legacy-erp', 10, lease: 10.0, maxWait: 0.2);

try {
    // Waits up to 200 ms for one of 10 slots, then runs. The slot is given back on return or throw.
    $rows = $erp->call(fn() => query());
    echo "$rows rows\n";
} catch (Airlock\BulkheadFullException $e) {
    header('Retry-After: ' . ceil($e->retryAfter));
    http_response_code(503);
}
// [/quickstart]

// [lease]
$slot = $erp->tryAcquire();  // Never waits; null when there is no room.
if ($slot !== null) {
    echo "slot {$slot->slot()} for {$slot->getRemainingLifetime()} s at most\n";
    $slot->release();
}

// Work that declares a parameter gets the lease, and can see whether it still has it.
$erp->call(function (Airlock\Lease $lease): void {
    foreach ([1, 2, 3] as $page) {
        if (!$lease->isValid()) {
            return;
        }
        query();
    }
});
// [/lease]

// [seals]
$lock = new Airlock\LockSeal('nightly-report', ttlInSeconds: 300.0);
$sem = new Airlock\SemaphoreSeal('site_capacity', limit: 20, weight: 1, ttlInSeconds: 300.0);
$rate = new Airlock\RateLimiterSeal('api-calls', ['100/s', '1000/1h']);
$both = new Airlock\CompositeSeal(lockingSeal: $sem, rateLimitingSeal: $rate);

$token = $both->tryAcquire();  // null when one of them refuses.
if ($token !== null) {
    $text = (string) $token;   // For a cookie or a job; whoever has it can release it.
    $both->release(Airlock\SealToken::parse($text));
}
// [/seals]

// [isolation]
$isolation = new Airlock\EventIsolation(lockTtlSeconds: 60.0);
$held = $isolation->lock('chat:42');  // In order of arrival; EventIsolationTimeoutException after two minutes.
try {
    query();
} finally {
    $held->release();
}
// [/isolation]

// [testing]
// One process, nothing shared, nothing left behind.
$bulkhead = new Airlock\Bulkhead('legacy-erp', 1, store: 'memory:');
$taken = $bulkhead->acquire();
try {
    $bulkhead->call(fn() => query());
} catch (Airlock\BulkheadFullException $e) {
    echo "refused: $e->reason\n";
}

$fake = new class implements Airlock\Seal {
    public function tryAcquire(): ?Airlock\SealToken
    {
        return null;
    }
};
// [/testing]
