--TEST--
onAccepted and onRejected are told the name and the wait; what they throw passes, and no slot is lost
--FILE--
<?php
require 'support.inc';
$bulkhead = new Airlock\Bulkhead('noted', 1, store(),
    onAccepted: function (string $name, float $waited) { echo "accepted $name ", $waited < 10 ? 'soon' : 'late', "\n"; },
    onRejected: fn(string $name, float $waited) => print("rejected $name\n"));
$bulkhead->call(function () use ($bulkhead) {
    echo "inside\n";
    echo thrown(fn() => $bulkhead->call(fn() => 1)), "\n";
    var_dump($bulkhead->tryAcquire());
});
$lease = $bulkhead->acquire();
$lease->release();

echo "-- they throw\n";
$throws = new Airlock\Bulkhead('noted', 1, store(),
    onAccepted: fn() => throw new LogicException('accepted'), onRejected: fn() => throw new LogicException('rejected'));
show_thrown(fn() => $throws->call(fn() => print("not reached\n")), fn() => $throws->acquire(), fn() => $throws->tryAcquire());
var_dump($throws->availableSlots());
(new Airlock\Bulkhead('noted', 1, store()))->call(
    fn() => show_thrown(fn() => $throws->call(fn() => 1), fn() => $throws->acquire(), fn() => $throws->tryAcquire()));
var_dump($throws->availableSlots());

echo "-- cycles are collected, and what they hold\n";
final class Service
{
    public Airlock\Bulkhead $bulkhead;
    public ?Airlock\Lease $lease;
    public function __construct()
    {
        $this->bulkhead = new Airlock\Bulkhead('cycle', 1, store(), onAccepted: fn() => $this->accepted());
        $this->lease = $this->bulkhead->acquire();
    }
    public function accepted(): void {}
    public function __destruct() { echo "collected\n"; }
}
new Service();
var_dump(store()->counts('cycle')['inUse']);
gc_collect_cycles();
var_dump(store()->counts('cycle')['inUse']);

echo "-- the bulkhead goes away while it calls\n";
$gone = new Airlock\Bulkhead('gone', 1, store());
var_dump($gone->call(function () use (&$gone) { $gone = null; gc_collect_cycles(); return 'done'; }));
var_dump(store()->counts('gone')['inUse']);
?>
--EXPECT--
accepted noted soon
inside
rejected noted
Airlock\BulkheadFullException: Bulkhead "noted" is full (max 1 concurrent)
rejected noted
NULL
accepted noted soon
-- they throw
LogicException: accepted
LogicException: accepted
LogicException: accepted
int(1)
LogicException: rejected
LogicException: rejected
LogicException: rejected
int(1)
-- cycles are collected, and what they hold
int(1)
collected
int(0)
-- the bulkhead goes away while it calls
string(4) "done"
int(0)
