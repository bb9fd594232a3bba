<?php

declare(strict_types=1);

namespace Airlock\Adapter;

use Airlock\Bulkhead;
use Airlock\Lease;
use Airlock\Store;
use Rasuvaeff\Bulkhead\BulkheadStore as SeedStore;
use Rasuvaeff\Duration\Duration;

/**
 * A store for SharedBulkhead and KeyedBulkhead of rasuvaeff/bulkhead. They poll; Airlock\Bulkhead waits in a line.
 *
 * A slot belongs to this request: when it ends, or its process dies, the slot is free.
 */
final class BulkheadStore implements SeedStore
{
    private readonly Store $store;

    /** @var array<string, Lease> */
    private array $leases = [];

    public function __construct(#[\SensitiveParameter] Store|string|null $store = null)
    {
        $this->store = $store instanceof Store ? $store : new Store($store);
    }

    public function tryAcquire(string $name, int $maxConcurrent, Duration $lease): ?string
    {
        $seconds = $lease->toMillis() / 1000;
        $taken = (new Bulkhead($name, $maxConcurrent, $this->store, $seconds))->tryAcquire();
        if ($taken === null) {
            return null;
        }
        $token = $taken->fence() . '-' . bin2hex(random_bytes(8));
        $this->leases["$name $token"] = $taken;
        return $token;
    }

    public function release(string $name, string $token): void
    {
        unset($this->leases["$name $token"]);
    }

    public function activeCount(string $name): int
    {
        return $this->store->counts($name)['inUse'];
    }
}
