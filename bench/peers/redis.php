<?php
// Slots in a sorted set of expiries in Redis, taken and given by scripts.

declare(strict_types=1);

require __DIR__ . '/crowd.php';

final class RedisClient extends PollingClient
{
    private const LEASE_MS = 30_000;

    private const TAKE = <<<'LUA'
        local time = redis.call('TIME')
        local now = time[1] * 1000 + math.floor(time[2] / 1000)
        redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
        if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[2]) then return 0 end
        redis.call('ZADD', KEYS[1], now + ARGV[3], ARGV[1])
        if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[3]) then
          redis.call('PEXPIRE', KEYS[1], ARGV[3])
        end
        return 1
        LUA;
    private const GIVE = "return redis.call('ZREM', KEYS[1], ARGV[1])";

    private readonly Redis $redis;

    public function __construct(string $socket, private readonly int $slots)
    {
        $this->redis = new Redis();
        $this->redis->connect($socket);
        foreach ([self::TAKE, self::GIVE] as $script) {
            $this->redis->script('load', $script);
        }
    }

    protected function take(string $token): bool
    {
        return $this->run(self::TAKE, [$token, $this->slots, self::LEASE_MS]) === 1;
    }

    protected function give(string $token): void
    {
        $this->run(self::GIVE, [$token]);
    }

    private function run(string $script, array $arguments): int
    {
        $reply = $this->redis->evalSha(sha1($script), ['crowd:slots', ...$arguments], 1);
        if (!is_int($reply)) {
            throw new RuntimeException('redis: ' . $this->redis->getLastError());
        }
        return $reply;
    }
}

run_crowd(plan(), static fn (object $plan): RedisClient => new RedisClient($plan->at, $plan->slots));
