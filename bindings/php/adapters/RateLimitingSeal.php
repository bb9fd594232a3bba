<?php

declare(strict_types=1);

namespace Airlock\Adapter;

use Airlock\CooldownSeal;
use Airlock\RateLimiterSeal;
use Airlock\SealAcquiringException;
use Clegginabox\Airlock\Exception\SealAcquiringException as SeedAcquiringException;
use Clegginabox\Airlock\Seal\RateLimitingSeal as SeedSeal;

/** A rate limit or a cooldown where clegginabox/airlock-php wants a seal. */
final class RateLimitingSeal implements SeedSeal
{
    public function __construct(private readonly RateLimiterSeal|CooldownSeal $seal)
    {
    }

    public function tryAcquire(): ?Token
    {
        try {
            $token = $this->seal->tryAcquire();
        } catch (SealAcquiringException $e) {
            throw new SeedAcquiringException($e->getMessage(), 0, $e);
        }
        return $token === null ? null : new Token($token);
    }
}
