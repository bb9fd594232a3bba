<?php
// A crowd of PHP processes; bench/crowd/crowd.hpp has the protocol. A client has enter(), leave() and $calls.

declare(strict_types=1);

const NS_PER_MS = 1_000_000;

function plan(): object
{
    $words = getopt('', ['clients:', 'slots:', 'hold-us:', 'ms:', 'out:', 'at:', 'orphan']);
    return (object) [
        'clients' => (int) $words['clients'],
        'slots' => (int) $words['slots'],
        'hold' => 1000 * (int) $words['hold-us'],
        'ms' => (int) $words['ms'],
        'out' => $words['out'],
        'at' => $words['at'] ?? '',
        'orphan' => isset($words['orphan']),
    ];
}

function sleep_until(int $time): void
{
    while (($left = $time - hrtime(true)) > 0) {
        usleep(intdiv($left, 1000) + 1);
    }
}

function cpu_us(): int
{
    $use = getrusage();
    return ($use['ru_utime.tv_sec'] + $use['ru_stime.tv_sec']) * 1_000_000
        + $use['ru_utime.tv_usec'] + $use['ru_stime.tv_usec'];
}

function await_start(): void
{
    while (!feof(STDIN)) {
        fread(STDIN, 16);
    }
}

function visit(object $plan, int $number, object $client): void
{
    $cpu = cpu_us();
    $lines = [];
    $end = hrtime(true) + $plan->ms * NS_PER_MS;
    for ($now = 0; $now < $end && count($lines) < 100_000;) {
        $ask = hrtime(true);
        $client->enter();
        $in = $now = hrtime(true);
        if ($plan->hold > 0) {
            sleep_until($in + $plan->hold);
            $now = hrtime(true);
        }
        $lines[] = "$ask $in $now\n";
        $client->leave();
    }
    file_put_contents("$plan->out/$number.cost", (cpu_us() - $cpu) . " $client->calls\n");
    file_put_contents("$plan->out/$number.times", implode('', $lines));
}

function visit_orphaned(object $plan, int $number, object $client): void
{
    if ($number > 0) {
        sleep_until(hrtime(true) + 250 * NS_PER_MS);
    }
    $ask = hrtime(true);
    $client->enter();
    $in = hrtime(true);
    if ($number === 0) {
        sleep(3600);
    }
    file_put_contents("$plan->out/$number.times", "$ask $in $in\n");
}

function orphan(object $plan, array $pids): void
{
    await_start();
    sleep_until(hrtime(true) + 500 * NS_PER_MS);
    posix_kill($pids[0], SIGKILL);
    $killed = hrtime(true);
    file_put_contents("$plan->out/killed", "$killed\n");
    sleep_until($killed + 3000 * NS_PER_MS);
    posix_kill($pids[1], SIGKILL);
}

function run_crowd(object $plan, callable $make): void
{
    $pids = [];
    for ($number = 0; $number < $plan->clients; ++$number) {
        $pid = pcntl_fork();
        if ($pid === 0) {
            $client = $make($plan);
            fwrite(STDOUT, '.');
            await_start();
            $plan->orphan ? visit_orphaned($plan, $number, $client) : visit($plan, $number, $client);
            exit(0);
        }
        $pids[] = $pid;
    }
    if ($plan->orphan) {
        orphan($plan, $pids);
    }
    $failures = 0;
    foreach ($pids as $pid) {
        pcntl_waitpid($pid, $status);
        $failures += $status === 0 || $plan->orphan ? 0 : 1;
    }
    exit($failures === 0 ? 0 : 1);
}

// Asks every 50 ms until there is room, as the seed does unless told otherwise.
abstract class PollingClient
{
    private const POLL_US = 50_000;

    public int $calls = 0;
    private string $token;

    public function enter(): void
    {
        $this->token = bin2hex(random_bytes(16));
        for (;;) {
            ++$this->calls;
            if ($this->take($this->token)) {
                return;
            }
            usleep(self::POLL_US);
        }
    }

    public function leave(): void
    {
        ++$this->calls;
        $this->give($this->token);
    }

    abstract protected function take(string $token): bool;

    abstract protected function give(string $token): void;
}
