<?php

declare(strict_types=1);

namespace Airlock\Adapter;

use Airlock\LeaseExpiredException;
use Airlock\LockSeal;
use Airlock\SealAcquiringException;
use Airlock\SealReleasingException;
use Airlock\SealToken as OwnToken;
use Airlock\SemaphoreSeal;
use Clegginabox\Airlock\Exception;
use Clegginabox\Airlock\Seal;
use Clegginabox\Airlock\Seal\SealToken;

/** A lock or a semaphore where clegginabox/airlock-php wants a seal. */
final class LockingSeal implements Seal\LockingSeal, Seal\ReleasableSeal, Seal\RefreshableSeal
{
    public function __construct(private readonly LockSeal|SemaphoreSeal $seal)
    {
    }

    public function tryAcquire(): ?Token
    {
        try {
            $token = $this->seal->tryAcquire();
        } catch (SealAcquiringException $e) {
            throw new Exception\SealAcquiringException($e->getMessage(), 0, $e);
        }
        return $token === null ? null : new Token($token);
    }

    public function release(SealToken $token): void
    {
        try {
            $this->seal->release(self::own($token) ?? throw new SealReleasingException('A token of another kind of seal'));
        } catch (SealReleasingException $e) {
            throw new Exception\SealReleasingException($e->getMessage(), 0, $e);
        }
    }

    public function refresh(SealToken $token, ?float $ttlInSeconds = null): Token
    {
        try {
            $own = self::own($token) ?? throw new LeaseExpiredException('it is of another kind of seal');
            return new Token($this->seal->refresh($own, $ttlInSeconds));
        } catch (LeaseExpiredException $e) {
            // Not the token itself: this text gets into logs.
            throw new Exception\LeaseExpiredException($token->getId(), $e->getMessage());
        }
    }

    private static function own(SealToken $token): ?OwnToken
    {
        return $token instanceof Token ? $token->token : null;
    }
}
