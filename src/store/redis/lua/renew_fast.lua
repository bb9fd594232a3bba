-- renew_fast.lua: the usual renewal, before the rest of the rules is even defined: the lease is live,
-- its weight stays, nothing is due and nobody could come in for it. Anything else goes on below. The
-- same arithmetic as there, and the same writes; the random comparison with the rules covers both.
--
-- KEYS, ARGV and reply: renew.lua

local read = redis.call('HMGET', KEYS[1], 'm', ARGV[2])
if read[1] and read[2] and ARGV[5] == '0' and string.byte(read[1]) == SCHEMA then
  local _, _, last, offset, fence, in_use, holders, visits, waiters, present, line_limit,
    arrivals, slots, freed, override, limit, exclusive, disagree, order, aging_base,
    aging_per_second, aging_max, has_drawn, drawn, _, next_due, last_grant, interval, _, quick, kept =
    struct.unpack(META, read[1])
  local state, hold, exclusively, several, confirmed, its_order, priority, weight, its_limit, slot,
    its_fence, _, joined, granted, _, revoked, patience_end, called_until, place, claim_window,
    patience, dedupe, cost, aging1, aging2, aging3, channel, label = struct.unpack(VISIT, read[2])
  local now, ttl = CLOCK + offset, tonumber(ARGV[4])
  if now >= last and now < next_due and state == HOLDING and revoked == 0
    and its_fence == tonumber(ARGV[3]) and waiters == 0
    and math.max(now + ttl, now + IDLE) + SPARE <= kept then
    redis.call('HDEL', KEYS[1], '') -- What comes after a first write is not refused for want of memory.
    redis.call('ZADD', KEYS[2], now + ttl, ARGV[2])
    redis.call('HSET', KEYS[1],
      'm', struct.pack(META, SCHEMA, 0, now, offset, fence, in_use, holders, visits, 0, 0,
        line_limit, arrivals, slots, freed, override, limit, exclusive, disagree, order, aging_base,
        aging_per_second, aging_max, has_drawn, drawn, 0, math.min(next_due, now + ttl),
        last_grant, interval, now, quick, kept),
      ARGV[2], struct.pack(VISIT, HOLDING, hold, exclusively, several, confirmed, its_order,
        priority, weight, its_limit, slot, its_fence, now + ttl, joined, granted, ttl, 0,
        patience_end, called_until, place, claim_window, patience, dedupe, cost, aging1, aging2,
        aging3, #channel, channel, #label, label))
    return struct.pack('<dddd', DONE, WALL, 0, 0)
  end
end
