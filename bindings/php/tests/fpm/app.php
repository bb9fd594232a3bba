<?php
// What fpm_test.py asks a php-fpm to do: ?do=ENDING&how=call|acquire.

declare(strict_types=1);

header('X-Worker: ' . getmypid());
$uri = $_SERVER['AIRLOCK_TEST_STORE'];
$do = $_GET['do'];

final class Cycle
{
    public ?Cycle $self = null;
    public function __construct(public Airlock\Lease $lease) { $this->self = $this; }
}
final class Keeper
{
    public static ?Airlock\Lease $lease = null;
}
final class ThrowsAtTheEnd
{
    public function __construct(private Airlock\Lease $lease) {}
    public function __destruct() { throw new LogicException('in a destructor'); }
}

// Ways for a request to end while it holds a slot.
function finish(string $do, ?Airlock\Lease $lease): void
{
    match ($do) {
        'return' => null,
        'exit' => exit(1),
        'throw' => throw new RuntimeException('uncaught'),
        'error' => trigger_error('fatal', E_USER_ERROR),
        'undefined' => no_such_function(),
        'memory' => str_repeat('x', 1 << 30),
        'timeout' => set_time_limit(1) && (function () { for (;;) ; })(),
        'compile' => eval('class Twice {} class Twice {}'),
        'nested-error' => array_map(fn() => array_map(fn() => trigger_error('fatal', E_USER_ERROR), [1]), [1]),
        'output' => ob_start(fn() => str_repeat('x', 1 << 30)),
        'shutdown' => register_shutdown_function(fn() => trigger_error('fatal', E_USER_ERROR)),
        'sleep' => sleep(60),
        'kill' => posix_kill(getmypid(), 9),
    };
}

// Ways to keep a lease beyond its scope.
function keep(string $do, Airlock\Lease $lease): bool
{
    match ($do) {
        'static' => Keeper::$lease = $lease,
        'cycle' => new Cycle($lease),
        'destructor' => $GLOBALS['throws'] = new ThrowsAtTheEnd($lease),
        'fiber' => ($GLOBALS['fiber'] = new Fiber(fn() => [$lease, Fiber::suspend()]))->start(),
        'generator' => ($GLOBALS['generator'] = (function () use ($lease) { yield 1; yield $lease; })())->current(),
        default => null,
    };
    return in_array($do, ['static', 'cycle', 'destructor', 'fiber', 'generator'], true);
}

function crowd(Airlock\Bulkhead $bulkhead): void
{
    $folder = $_SERVER['AIRLOCK_TEST_FOLDER'];
    $bulkhead->call(function (Airlock\Lease $lease) use ($folder) {
        // Slots are numbers below the limit: two holders of one number are one too many.
        $file = fopen("$folder/slot-" . ($lease->slot() ?? 'none'), 'c+');
        if ($lease->slot() === null || !flock($file, LOCK_EX | LOCK_NB)) {
            echo 'overlap with ', trim((string) fread($file, 20)), "\n";
            return;
        }
        ftruncate($file, 0);
        fwrite($file, (string) getmypid());
        usleep(random_int(0, 1000));
        if (!$lease->isValid()) {
            echo "lost\n";
        }
        flock($file, LOCK_UN);
        if ($_GET['end'] === 'error') {
            trigger_error('fatal', E_USER_ERROR);
        }
    });
    echo 'done';
}

if ($do === 'crowd') {
    crowd(new Airlock\Bulkhead('crowd', 5, $uri, lease: 60.0, maxWait: 120.0));
} elseif ($do === 'look') {
    $counts = (new Airlock\Store($uri))->counts($_GET['gate']);
    $threads = count(glob('/proc/self/task/*'));
    $memory = (int) preg_replace('/.*VmRSS:\s*(\d+) kB.*/s', '$1', file_get_contents('/proc/self/status'));
    echo json_encode($counts + ['threads' => $threads, 'rss' => $memory, 'files' => count(scandir('/proc/self/fd'))]);
} else {
    $bulkhead = new Airlock\Bulkhead('ends', 1, $uri, lease: 60.0);
    if ($_GET['how'] === 'call') {
        $bulkhead->call(fn() => finish($do, null));
    } elseif (!keep($do, $lease = $bulkhead->acquire())) {
        finish($do, $lease);
    }
    echo 'done';
}
