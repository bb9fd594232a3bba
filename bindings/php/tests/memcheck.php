<?php
// Every class and most failures once, for memcheck.sh; then one of the ways to end.

require 'support.inc';
use Airlock\{Bulkhead, CompositeSeal, CooldownSeal, EventIsolation, Lease, LockSeal, RateLimiterSeal, SealToken, SemaphoreSeal, StorageKey, Store};

function everything(): void
{
    $bulkhead = new Bulkhead('api', 2, onAccepted: fn() => 1, onRejected: fn() => 1);
    $bulkhead->call(fn() => str_repeat('x', 1000));
    $bulkhead->call(fn(Lease $lease) => $lease);
    thrown(fn() => $bulkhead->call(fn() => throw new Exception('x')));
    $leases = [$bulkhead->acquire(), $bulkhead->tryAcquire(), $bulkhead->tryAcquire()];
    thrown(fn() => $bulkhead->acquire());
    $throws = new Bulkhead('throws', 1, onAccepted: fn() => throw new Exception('x'));
    thrown(fn() => $throws->call('gettype'));
    thrown(fn() => new Bulkhead('wrong name', 1));
    thrown(fn() => new Bulkhead('x', 1, 'wrong'));
    thrown(fn() => $bulkhead->__construct('x', 1));
    $token = $leases[0]->detach();
    Lease::adopt($token)->release();
    thrown(fn() => Lease::adopt($token));

    $lock = new LockSeal('lock');
    $token = unserialize(serialize($lock->refresh($lock->tryAcquire(), 5.0)));
    [$lock->isAcquired($token), $lock->isExpired($token), $lock->getRemainingLifetime($token), $token->getId(), "$token"];
    $lock->release(SealToken::parse("$token"));
    thrown(fn() => $lock->release($token));
    thrown(fn() => unserialize('O:17:"Airlock\SealToken":1:{s:5:"token";s:1:"x";}'));
    $both = new CompositeSeal(new SemaphoreSeal('sem', 3, 2), new RateLimiterSeal('rate', ['1/1h', '5/1s']));
    $both->release($both->tryAcquire());
    [$both->tryAcquire(), (new CooldownSeal('cool', 5.0))->tryAcquire()->getResource()];
    thrown(fn() => new RateLimiterSeal('rate', ['1/s', 'wrong']));

    $isolation = new EventIsolation(acquireTimeoutSeconds: 0.0, prefix: 'p');
    $held = $isolation->lock((new StorageKey(1, 2, 3, 4, 'b', 'd'))->withDestiny('e'));
    thrown(fn() => $isolation->lock((new StorageKey(1, 2, 3, 4, 'b', 'd'))->withDestiny('e')));

    $store = new Store();
    [$store->list(), $store->look('api'), $store->look('rate'), $store->counts('api'), $store->metrics(), $store->doctor()];
    $store->setLimit('api', 5);
    $store->setLimit('api', null);
    $store->pause('api', 5.0, 'me');
    [$store->look('api'), $store->resume('api', 'me'), $store->revoke('api'), $store->purge('sem')];
    foreach (range(1, 100) as $number) {
        thrown(fn() => new Store("memory:?timeout={$number}s"));
    }
    $closed = new Store('memory:?shards=4');
    $other = new Bulkhead('x', 1, $closed);
    $closed->close();
    thrown(fn() => $other->call(fn() => 1));
    $fiber = new Fiber(fn() => $bulkhead->call(fn() => Fiber::suspend()));
    $fiber->start();
}

everything();
$GLOBALS['kept'] = (new Bulkhead('kept', 1))->acquire();
$GLOBALS['cycle'] = new Bulkhead('cycle', 1, onAccepted: function () { return $GLOBALS['cycle']; });
match ($argv[1]) {
    'normal' => null,
    'exit' => $GLOBALS['cycle']->call(fn() => exit(0)),
    'throw' => $GLOBALS['cycle']->call(fn() => throw new Exception('x')),
    'error' => $GLOBALS['cycle']->call(fn() => trigger_error('fatal', E_USER_ERROR)),
};
