-- renew_fast.lua: the usual renewal, before the rest of the rules is even defined: the lease is live,
-- its weight stays, nothing is due and nobody could come in for it. Anything else goes on below. The
-- same arithmetic as there, and the same writes; the random comparison with the rules covers both.
--
-- KEYS, ARGV and reply: renew.lua

local read = redis.call('HMGET', KEYS[1], 'm', ARGV[2], 's')
if read[1] and read[2] and ARGV[5] == '0' and string.byte(read[1]) == SCHEMA and read[3] == SOUND then
  local _, META_FIELDS = struct.unpack(META, read[1])
  local state, _, _, _, _, _, _, _, _, _, its_fence, revoked, its_end, granted, joined =
    struct.unpack(VISIT_UP_TO_joined, read[2])
  local now, ttl = CLOCK + offset, tonumber(ARGV[4])
  if now >= last and now < next_due and state == HOLDING and revoked == 0
    and its_fence == tonumber(ARGV[3]) and waiters == 0
    and math.max(now + ttl, now + IDLE) + SPARE <= kept then
    -- What comes after a first write is not refused for want of memory. This changes nothing, and ends here
    -- if it is no set.
    local is_lone = lone == ARGV[2] and lone_end ~= NEVER
    if is_lone then redis.call('HDEL', KEYS[1], '') else redis.call('ZREM', KEYS[2], '') end
    local ends = now + ttl
    -- At no moment the set has it end later than its record: early is noticed.
    if is_lone then
      lone_end = ends
    elseif ends < its_end then
      redis.call('ZADD', KEYS[2], ends, ARGV[2])
    end
    forgotten, present, rate_due = 0, 0, 0
    last, used, next_due = now, now, math.min(next_due, ends)
    redis.call('HSET', KEYS[1],
      'm', struct.pack(META, SCHEMA, META_FIELDS),
      ARGV[2], string.sub(read[2], 1, VISIT_BEFORE_expiry) .. struct.pack('<dddd', ends, granted, joined, ttl)
        .. string.sub(read[2], VISIT_AT_patience_end))
    if not is_lone and ends >= its_end then redis.call('ZADD', KEYS[2], ends, ARGV[2]) end
    return struct.pack('<dddd', DONE, WALL, 0, 0)
  end
end
