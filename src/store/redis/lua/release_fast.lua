-- release_fast.lua: the usual release, before the rest of the rules is even defined: the lease is
-- live, nobody waits and nothing is due. Anything else goes on below.
--
-- KEYS, ARGV and reply: release.lua

local read = redis.call('HMGET', KEYS[1], 'm', ARGV[2])
if read[1] and read[2] and string.byte(read[1]) == SCHEMA then
  local _, forgotten, last, offset, fence, in_use, holders, visits, waiters, present,
    line_limit, arrivals, slots, freed, override, limit, exclusive, disagree, order, aging_base,
    aging_per_second, aging_max, has_drawn, drawn, rate_due, next_due, last_grant, interval, used,
    quick, kept = struct.unpack(META, read[1])
  local state, _, _, _, _, _, _, weight, _, slot, its_fence, expiry, _, _, _, revoked =
    struct.unpack(VISIT, read[2])
  local now = CLOCK + offset
  if forgotten == 0 and waiters == 0 and now >= last and now < next_due
    and now + IDLE + SPARE <= kept and state == HOLDING and revoked == 0
    and its_fence == tonumber(ARGV[3]) then
    redis.call('HDEL', KEYS[1], ARGV[2])
    redis.call('ZREM', KEYS[2], ARGV[2])
    if slot >= 0 and slot == slots - 1 then
      slots = slot
    elseif slot >= 0 then
      redis.call('ZADD', KEYS[5], slot, slot)
      if freed == 0 then redis.call('PEXPIRE', KEYS[5], math.ceil((kept - now) / 1000)) end
      freed = freed + 1
    end
    if freed > 0 and freed == slots then
      redis.call('DEL', KEYS[5])
      freed, slots = 0, 0
    end
    redis.call('HSET', KEYS[1], 'm', struct.pack(META, SCHEMA, 0, now, offset, fence,
      in_use - weight, holders - 1, visits - 1, 0, 0, line_limit, arrivals, slots, freed, override,
      limit, exclusive, disagree, order, aging_base, aging_per_second, aging_max, has_drawn, drawn,
      rate_due, next_due, last_grant, interval, now, quick, kept))
    return struct.pack('<dddd', DONE, WALL, 0, 1)
  end
end
