--TEST--
pcntl_fork, renewal, fibers, opcache with preload: each process owns what it took, and no thread starts by itself
--FILE--
<?php
require 'support.inc';
use Airlock\Bulkhead;

function threads(): int { return count(glob('/proc/self/task/*')); }
function in_use(string $gate): int { return store()->counts($gate)['inUse']; }
function child(callable $work): void
{
    if (($pid = pcntl_fork()) === 0) {
        $work();
        exit(0);
    }
    pcntl_waitpid($pid, $status);
    var_dump($status);
}

echo "-- a child owns nothing of its parent, and frees nothing\n";
$bulkhead = new Bulkhead('fork', 2, store(), 30.0);
$lease = $bulkhead->acquire();
$bulkhead->call(function () use ($lease, $bulkhead) {
    child(function () use ($lease, $bulkhead) {
        var_dump($lease->isValid(), $lease->getRemainingLifetime());
        $lease->release();
        var_dump(in_use('fork'), $bulkhead->tryAcquire());
    });
    var_dump($lease->isValid(), in_use('fork'));
});
var_dump(in_use('fork'));
child(fn() => var_dump($bulkhead->call(fn() => in_use('fork'))));
var_dump(in_use('fork'), threads());
$lease->release();

echo "-- a child that dies gives back\n";
$pid = pcntl_fork();
if ($pid === 0) {
    $bulkhead->call(fn() => posix_kill(getmypid(), SIGKILL));
}
pcntl_waitpid($pid, $status);
eventually(fn() => in_use('fork') === 0, 'the slot of a killed process');
var_dump(pcntl_wtermsig($status));

echo "-- renewed only where that is asked for\n";
$short = new Bulkhead('short', 1, store(), lease: 0.3);
$long = new Bulkhead('long', 1, store(), lease: 0.3, renew: true);
$one = $short->acquire();
var_dump(threads());
$two = $long->acquire();
eventually(fn() => !$one->isValid(), 'the end of a lease');
eventually(fn() => in_use('short') === 0, 'the end of a lease, for others');
for ($end = hrtime(true) + 500_000_000; hrtime(true) < $end;) usleep(1000);
var_dump($two->isValid(), in_use('long'), threads() > 1);
show_thrown(fn() => $one->release());
var_dump($short->call(function () { eventually(fn() => in_use('short') === 0, 'the end'); return 'the value, although the lease ran out'; }));

echo "-- fibers: given back by the one that took it\n";
$bulkhead = new Bulkhead('fiber', 2, store());
$fiber = new Fiber(fn() => $bulkhead->call(fn() => Fiber::suspend(in_use('fiber'))));
var_dump($fiber->start(), $bulkhead->call(fn() => in_use('fiber')));
$fiber->resume();
var_dump(in_use('fiber'));
$fiber = new Fiber(fn() => $bulkhead->call(fn() => Fiber::suspend()));
$fiber->start();
unset($fiber);
gc_collect_cycles();
var_dump(in_use('fiber'));

echo "-- exit inside, uncaught inside\n";
$uri = store_uri();
echo php("(new Airlock\Bulkhead('ends', 1, '$uri'))->call(fn() => exit(3));"), "\n";
echo strtok(php("\$kept = (new Airlock\Bulkhead('ends', 1, '$uri'))->acquire(); (new Airlock\Bulkhead('ends2', 1, '$uri'))->call(fn() => throw new Exception('x'));"), "\n"), "\n";
var_dump(in_use('ends'), in_use('ends2'));

echo "-- a thread that renews outlives no process, whatever ends it\n";
$ends = [];
for ($run = 0; $run < 12; ++$run) {
    $end = ['', 'exit;', 'trigger_error("fatal", E_USER_ERROR);', 'throw new Exception();'][$run % 4];
    $code = "\$held = (new Airlock\Bulkhead('thread', 20, '$uri', renew: true))->acquire(); $end";
    $ends[] = preg_replace('/.*(\[exit .*\])/s', '$1', php($code));
}
echo implode(' ', array_unique($ends)), ' ', in_use('thread'), "\n";

echo "-- opcache and preload\n";
$preload = getenv('AIRLOCK_TEST_DIR') . '/preload.inc';
file_put_contents($preload, "<?php class Preloaded extends Airlock\Bulkhead { function __construct() { parent::__construct('preload', 1, '$uri'); } }
    \$kept = (new Preloaded())->acquire(); echo (new Airlock\Store('$uri'))->counts('preload')['inUse'], \"\n\";");
echo php("echo (new Airlock\Store('$uri'))->counts('preload')['inUse'], (new Preloaded())->call(fn() => ' inside');", '-d', 'zend_extension=opcache', '-d', 'opcache.enable_cli=1',
    '-d', "opcache.preload=$preload", '-d', 'opcache.preload_user=' . posix_getpwuid(posix_geteuid())['name']), "\n";
?>
--EXPECT--
-- a child owns nothing of its parent, and frees nothing
bool(false)
float(0)
int(2)
NULL
int(0)
bool(true)
int(2)
int(1)
int(2)
int(0)
int(1)
int(1)
-- a child that dies gives back
int(9)
-- renewed only where that is asked for
int(1)
bool(true)
int(1)
bool(true)
Airlock\SealReleasingException: The lease had already ended
string(37) "the value, although the lease ran out"
-- fibers: given back by the one that took it
int(1)
int(2)
int(0)
int(0)
-- exit inside, uncaught inside

[exit 3]
Fatal error: Uncaught Exception: x in Command line code:1
int(0)
int(0)
-- a thread that renews outlives no process, whatever ends it
[exit 0] [exit 255] 0
-- opcache and preload
1
0 inside
[exit 0]
