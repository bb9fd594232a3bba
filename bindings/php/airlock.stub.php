<?php

/**
 * Signatures of the extension airlock, for IDEs and static analysis. airlock_arginfo.h is made from this page:
 * bindings/php/arginfo.sh.
 *
 * Durations are seconds. Bad arguments are \TypeError and \ValueError; all else that is thrown is an Airlock\Exception.
 *
 * @generate-class-entries
 */

namespace Airlock;

/** Base of everything that this extension throws, but for bad arguments. */
class Exception extends \RuntimeException
{
}

/** The store failed. */
class StoreException extends Exception
{
    /** "unavailable", "busy", "no_room", "closed" or "incompatible" */
    public readonly string $kind;

    /** Whether the store may have done what it was asked although its answer got lost. */
    public readonly bool $mayHaveHappened;
}

/** The store failed while it was asked for admission. Never means "full". */
class SealAcquiringException extends StoreException
{
}

/** It had already ended, is of another gate, or the store failed. */
class SealReleasingException extends Exception
{
}

/** It is gone and cannot be renewed. Stop the work. */
class LeaseExpiredException extends Exception
{
}

/** Refused. */
class BulkheadFullException extends Exception
{
    public readonly string $name;
    public readonly int $maxConcurrent;

    /** "full", "rate", "paused", "line_full", "late" or "never" */
    public readonly string $reason;

    /** Seconds that the call was kept. */
    public readonly float $waited;

    /** Seconds; asking before is pointless. INF: for ever. */
    public readonly float $retryAfter;
}

/** The key was not free in time. */
class EventIsolationTimeoutException extends Exception
{
    public readonly string $key;
    public readonly float $timeout;
}

/** A place where the state of gates is kept. */
final class Store
{
    /** The URI is "shm:", "redis://..." and so on; null: the ini setting airlock.store. */
    public function __construct(#[\SensitiveParameter] ?string $uri = null) {}

    /** @return list<string> The names of all gates. */
    public function list(): array {}

    /** @return array<string, mixed>|null Holders, line, rates, pauses and counters; null: unknown gate. */
    public function look(string $gate): ?array {}

    /** @return array<string, int|bool> inUse, limit, overridden, holders, waiting, exclusive; 0 for an unknown gate. */
    public function counts(string $gate): array {}

    /** Overrides the limit of all callers; null: no longer. */
    public function setLimit(string $gate, ?int $limit): void {}

    /** Admits nobody for so long. */
    public function pause(string $gate, float $seconds, string $reporter = ""): void {}

    /** Lifts the pause of that reporter; false: there was none. */
    public function resume(string $gate, string $reporter = ""): bool {}

    /** Takes leases away: how many. The visitor is as look() shows it; null: all. */
    public function revoke(string $gate, ?string $visitor = null, bool $now = false): int {}

    /** Forgets all of a gate but its fence; false: unknown gate. */
    public function purge(string $gate): bool {}

    /** Prometheus text. */
    public function metrics(): string {}

    /** @return list<string> */
    public function doctor(): array {}

    /** Nobody of this process is let in any more by objects made with this store. */
    public function close(): void {}

    /** Waits until this process holds nothing; false: the time was up before. */
    public function drain(float $seconds): bool {}

    /** Waits until what was given back in the background has reached the store; false: the time was up before. */
    public function flush(float $seconds): bool {}
}

/** An admission. It is given back by release(), with its last reference, and at the end of the request. */
final class Lease
{
    private function __construct() {}

    /** Takes up what detach() gave away, and renews it by a thread. LeaseExpiredException: it had ended. */
    public static function adopt(#[\SensitiveParameter] SealToken|string $token, #[\SensitiveParameter] Store|string|null $store = null, float $lease = 30.0): Lease {}

    /** SealReleasingException: it had ended before. The second call does nothing. */
    public function release(): void {}

    /** A clock read. */
    public function isValid(): bool {}

    /** Seconds; a clock read. */
    public function getRemainingLifetime(): float {}

    /** Grows with every admission of the gate. */
    public function fence(): int {}

    /** A number below the limit that no other holder has; null: none. */
    public function slot(): ?int {}

    /** Outlives the request, until its ttl ends; whoever has the token can adopt or release it. */
    public function detach(): SealToken {}
}

/** Lets so many in at once, in all processes that share the store. */
class Bulkhead
{
    /**
     * @param float $lease A slot that was not given back is free after this.
     * @param float $maxWait 0: refuse at once.
     * @param bool $renew Renew leases while they are held; starts threads.
     */
    public function __construct(string $name, int $maxConcurrent, #[\SensitiveParameter] Store|string|null $store = null, float $lease = 30.0, float $maxWait = 0.0, ?callable $onAccepted = null, ?callable $onRejected = null, bool $renew = false) {}

    /**
     * Runs the callable inside an admission; BulkheadFullException if there is none within maxWait. A callable that
     * requires a parameter is given the Lease.
     */
    public function call(callable $work): mixed {}

    /** Waits at most maxWait; BulkheadFullException. */
    public function acquire(): Lease {}

    /** Never waits; null: refused. */
    public function tryAcquire(): ?Lease {}

    public function availableSlots(): int {}

    public function name(): string {}

    public function maxConcurrent(): int {}
}

/** Asks once and never waits. */
interface Seal
{
    /** null: refused. SealAcquiringException: the store failed. */
    public function tryAcquire(): ?SealToken;
}

interface ReleasableSeal
{
    /** SealReleasingException */
    public function release(SealToken $token): void;
}

interface RefreshableSeal
{
    /** Lasts so long from now, by default as long as the seal says. LeaseExpiredException: it is gone. */
    public function refresh(SealToken $token, ?float $ttlInSeconds = null): SealToken;
}

interface LockingSeal extends Seal
{
}

interface RateLimitingSeal extends Seal
{
}

/** A proof of admission. Its text travels in cookies and jobs; whoever has it can release it. */
final class SealToken implements \Stringable
{
    private function __construct() {}

    /** \ValueError: this is no token. */
    public static function parse(#[\SensitiveParameter] string $text): SealToken {}

    public function getResource(): string {}

    /** The visitor, as look() shows it; fit for logs. */
    public function getId(): string {}

    /** The whole token: keep it out of logs. */
    public function __toString(): string {}

    public function __serialize(): array {}

    public function __unserialize(array $data): void {}
}

/** One holder at a time. */
class LockSeal implements LockingSeal, ReleasableSeal, RefreshableSeal
{
    public function __construct(string $resource, float $ttlInSeconds = 300.0, #[\SensitiveParameter] Store|string|null $store = null) {}

    public function tryAcquire(): ?SealToken {}

    public function release(SealToken $token): void {}

    public function refresh(SealToken $token, ?float $ttlInSeconds = null): SealToken {}

    /** Asks the store. */
    public function isAcquired(SealToken $token): bool {}

    /** A clock read; asks the store for a token whose end is not known here, as after parse(). */
    public function isExpired(SealToken $token): bool {}

    /** Seconds; null: not known here, as after parse(). */
    public function getRemainingLifetime(SealToken $token): ?float {}
}

/** So many holders at a time. */
class SemaphoreSeal implements LockingSeal, ReleasableSeal, RefreshableSeal
{
    public function __construct(string $resource, int $limit, int $weight = 1, float $ttlInSeconds = 300.0, #[\SensitiveParameter] Store|string|null $store = null) {}

    /** @implementation-alias Airlock\LockSeal::tryAcquire */
    public function tryAcquire(): ?SealToken {}

    /** @implementation-alias Airlock\LockSeal::release */
    public function release(SealToken $token): void {}

    /** @implementation-alias Airlock\LockSeal::refresh */
    public function refresh(SealToken $token, ?float $ttlInSeconds = null): SealToken {}

    /** @implementation-alias Airlock\LockSeal::isAcquired */
    public function isAcquired(SealToken $token): bool {}

    /** @implementation-alias Airlock\LockSeal::isExpired */
    public function isExpired(SealToken $token): bool {}

    /** @implementation-alias Airlock\LockSeal::getRemainingLifetime */
    public function getRemainingLifetime(SealToken $token): ?float {}
}

/** So much per time: "100/s", "10/1m,burst=20", "5/1h,sliding", "5/1h,fixed". */
class RateLimiterSeal implements RateLimitingSeal
{
    /** Of several rates all must let in. */
    public function __construct(string $resource, string|array $rates, #[\SensitiveParameter] Store|string|null $store = null) {}

    /** @implementation-alias Airlock\LockSeal::tryAcquire */
    public function tryAcquire(): ?SealToken {}
}

/** One, and no other before the period is over. */
class CooldownSeal implements RateLimitingSeal
{
    public function __construct(string $resource, float $periodInSeconds, #[\SensitiveParameter] Store|string|null $store = null) {}

    /** @implementation-alias Airlock\LockSeal::tryAcquire */
    public function tryAcquire(): ?SealToken {}
}

/** A locking seal of this extension and another one: both must let in. */
class CompositeSeal implements Seal, ReleasableSeal
{
    public function __construct(LockSeal|SemaphoreSeal $lockingSeal, RateLimiterSeal|CooldownSeal $rateLimitingSeal) {}

    /** @implementation-alias Airlock\LockSeal::tryAcquire */
    public function tryAcquire(): ?SealToken {}

    /** @implementation-alias Airlock\LockSeal::release */
    public function release(SealToken $token): void {}
}

/** Whose events must not be handled at the same time. */
final class StorageKey
{
    public readonly int $botId;
    public readonly int $chatId;
    public readonly int $userId;
    public readonly ?int $threadId;
    public readonly ?string $businessConnectionId;
    public readonly string $destiny;

    public function __construct(int $botId, int $chatId, int $userId, ?int $threadId = null, ?string $businessConnectionId = null, string $destiny = "default") {}

    public function withDestiny(string $destiny): StorageKey {}
}

/** Handlers of one key run one after the other, in order of arrival. */
class EventIsolation
{
    /**
     * @param float|null $acquireTimeoutSeconds null: twice the ttl; 0: one attempt.
     * @param bool $renew Renew locks while they are held; starts threads.
     */
    public function __construct(#[\SensitiveParameter] Store|string|null $store = null, float $lockTtlSeconds = 60.0, ?float $acquireTimeoutSeconds = null, bool $renew = false, string $prefix = "fsm", string $separator = ":", bool $withBotId = false, bool $withBusinessConnectionId = false, bool $withDestiny = false) {}

    /** EventIsolationTimeoutException: not free in time. Any bytes are a key. */
    public function lock(StorageKey|string $key): Lease {}

    /** Does nothing: the store stays open. */
    public function close(): void {}
}
