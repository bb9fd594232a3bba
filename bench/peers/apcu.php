<?php
// Slots in an array in APCu, behind a lock made of an entry that only one can add: tried 100 times, a millisecond apart,
// and gone by itself after a second. Without the lock nobody gets in, and who leaves leaves its slot to the lease.

declare(strict_types=1);

require __DIR__ . '/crowd.php';

final class ApcuClient extends PollingClient
{
    private const LEASE_MS = 30_000;

    public function __construct(private readonly int $slots)
    {
    }

    protected function take(string $token): bool
    {
        return $this->locked(function (array $held) use ($token): array {
            if (count($held) < $this->slots) {
                $held[$token] = self::now() + self::LEASE_MS;
            }
            return $held;
        }, $token);
    }

    protected function give(string $token): void
    {
        $this->locked(static function (array $held) use ($token): array {
            unset($held[$token]);
            return $held;
        }, $token);
    }

    // Whether the token is among those held afterwards.
    private function locked(callable $change, string $token): bool
    {
        for ($try = 0; !apcu_add('crowd:lock', 1, 1); ++$try) {
            if ($try === 99) {
                return false;
            }
            usleep(1000);
        }
        $now = self::now();
        $held = apcu_fetch('crowd:slots') ?: [];
        $held = $change(array_filter($held, static fn (int $expiry): bool => $expiry > $now));
        apcu_store('crowd:slots', $held);
        apcu_delete('crowd:lock');
        return isset($held[$token]);
    }

    private static function now(): int
    {
        return (int) (microtime(true) * 1000);
    }
}

run_crowd(plan(), static fn (object $plan): ApcuClient => new ApcuClient($plan->slots));
