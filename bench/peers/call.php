<?php
// One admission and release in one process: Bulkhead::call() over shm: against the algorithm of apcu.php, in turns.
//
//   php -d extension=.../airlock.so -d apc.enable_cli=1 bench/peers/call.php [STORE] [ROUNDS]

declare(strict_types=1);

const CALLS = 20_000;
const LEASE_MS = 30_000;

function locked(callable $change): void
{
    for ($try = 0; !apcu_add('call:lock', 1, 1); ++$try) {
        if ($try === 99) {
            return;
        }
        usleep(1000);
    }
    $now = (int) (microtime(true) * 1000);
    $held = array_filter(apcu_fetch('call:slots') ?: [], static fn (int $expiry): bool => $expiry > $now);
    apcu_store('call:slots', $change($held, $now));
    apcu_delete('call:lock');
}

function apcu_call(callable $work): mixed
{
    $token = bin2hex(random_bytes(16));
    locked(static function (array $held, int $now) use ($token): array {
        if (count($held) < 10) {
            $held[$token] = $now + LEASE_MS;
        }
        return $held;
    });
    try {
        return $work();
    } finally {
        locked(static function (array $held) use ($token): array {
            unset($held[$token]);
            return $held;
        });
    }
}

function ns_per_call(callable $call): float
{
    $begin = hrtime(true);
    for ($count = 0; $count < CALLS; ++$count) {
        $call();
    }
    return (hrtime(true) - $begin) / CALLS;
}

function median(array $values): float
{
    sort($values);
    return $values[intdiv(count($values), 2)];
}

$store = $argv[1] ?? 'shm:';
$bulkhead = new Airlock\Bulkhead('bench-call', 10, $store);
$work = static fn (): int => 1;
$subjects = [
    'call()' => static fn () => $bulkhead->call($work),
    'new and call()' => static fn () => (new Airlock\Bulkhead('bench-call', 10, $store))->call($work),
    'acquire() and release()' => static fn () => $bulkhead->acquire()->release(),
    'slots in APCu' => static fn () => apcu_call($work),
];
$times = [];
for ($round = (int) ($argv[2] ?? 9); $round > 0; --$round) {
    foreach ($subjects as $name => $call) {
        $times[$name][] = ns_per_call($call);
    }
}
$apcu = median($times['slots in APCu']);
foreach ($times as $name => $all) {
    printf("%-24s %7.0f ns (%.0f), %.3f of APCu\n", $name, median($all), min($all), median($all) / $apcu);
}
