-- admit_fast.lua: the usual question, before the rest of the rules is even defined: a newcomer asks
-- for permits alone where nobody waits, nothing is due, nothing is overridden, and there is room.
-- Anything else goes on below. The same arithmetic as there, and the same writes.
--
-- KEYS, ARGV and reply: admit.lua

local read = redis.call('HMGET', KEYS[1], 'm', 'p', ARGV[2])
if ARGV[5] == '' and (read[2] or '') == '' and not read[3]
  and (not read[1] or string.byte(read[1]) == SCHEMA) then
  local meta = read[1] or struct.pack(META, SCHEMA, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1, 0, 0,
    0, FIFO, 1, 1, 100, 0, string.rep('\0', 16), 0, NEVER, 0, 0, 0, 0, 0)
  local _, forgotten, last, offset, fence, in_use, holders, visits, waiters, present,
    line_limit, arrivals, slots, freed, override, limit, exclusive, disagree, order, aging_base,
    aging_per_second, aging_max, has_drawn, drawn, rate_due, next_due, last_grant, interval, used,
    quick, kept = struct.unpack(META, meta)
  local _, is_exclusive, _, join, _, _, hold, _, _, its_limit, weight, cost, _, ttl =
    struct.unpack(REQUEST, ARGV[4])
  local now = CLOCK + offset
  if join ~= RETURNING and forgotten == 0 and waiters == 0 and override < 0 and now >= last
    and now < next_due and in_use + weight <= its_limit then
    if visits == 0 then disagree = 0 end
    if limit ~= its_limit then
      if limit ~= 0 and visits ~= 0 then disagree = 1 end
      limit = its_limit
    end
    local expiry = now + ttl
    redis.call('ZADD', KEYS[2], expiry, ARGV[2])
    local slot = -1
    if weight == 1 and freed == 0 then
      slot = slots
      slots = slots + 1
    elseif weight == 1 then
      slot = tonumber(redis.call('ZPOPMIN', KEYS[5])[1])
      freed = freed - 1
    end
    fence = math.max(fence + 1, WALL)
    local needed = math.max(expiry, now + IDLE)
    local extends = needed + SPARE > kept
    if extends then kept = needed + (needed - now) + 2 * SPARE end
    local label = ARGV[6]
    redis.call('HSET', KEYS[1],
      'm', struct.pack(META, SCHEMA, 0, now, offset, fence, in_use + weight, holders + 1,
        visits + 1, 0, 0, line_limit, arrivals, slots, freed, override, limit, is_exclusive,
        disagree, order, aging_base, aging_per_second, aging_max, has_drawn, drawn, rate_due,
        math.min(next_due, expiry), last_grant, interval, now, quick + 1, kept),
      ARGV[2], struct.pack(VISIT, HOLDING, hold, is_exclusive, 0, 0, FIFO, 0, weight, its_limit,
        slot, fence, expiry, now, now, ttl, 0, 0, 0, 0, 0, 0, 0, cost, 0, 0, 0, 0, '', #label, label))
    if extends or visits == 0 then
      local ms = math.ceil((kept - now) / 1000)
      redis.call('PEXPIRE', KEYS[2], ms)
      if extends then
        redis.call('PEXPIRE', KEYS[1], ms)
        if freed > 0 then redis.call('PEXPIRE', KEYS[5], ms) end
      end
    end
    return struct.pack('<ddddddddddddd', GRANTED, WALL, 0, fence, ttl, slot, 0, 0, 0, 0, 0, 0, 0)
  end
end
