<?php

declare(strict_types=1);

namespace Airlock\Adapter;

use Airlock\SealToken;
use Clegginabox\Airlock\Seal\PortableToken;

/** A token of a seal of this extension, for clegginabox/airlock-php. */
final class Token implements PortableToken
{
    public function __construct(public readonly SealToken $token)
    {
    }

    public function getResource(): string
    {
        return $this->token->getResource();
    }

    public function getId(): string
    {
        return $this->token->getId();
    }

    public function __toString(): string
    {
        return (string) $this->token;
    }
}
