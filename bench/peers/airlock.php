<?php
// The slots of a bulkhead, by the extension; waits in its line.

declare(strict_types=1);

require __DIR__ . '/crowd.php';

final class AirlockClient
{
    public int $calls = 0;
    private readonly Airlock\Bulkhead $bulkhead;
    private ?Airlock\Lease $lease = null;

    public function __construct(int $slots, string $store)
    {
        $this->bulkhead = new Airlock\Bulkhead('crowd', $slots, $store, lease: 30.0, maxWait: 3600.0);
    }

    public function enter(): void
    {
        ++$this->calls;
        $this->lease = $this->bulkhead->acquire();
    }

    public function leave(): void
    {
        ++$this->calls;
        $this->lease->release();
    }
}

run_crowd(plan(), static fn (object $plan): AirlockClient => new AirlockClient($plan->slots, $plan->at));
