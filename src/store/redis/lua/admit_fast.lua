-- admit_fast.lua: the usual questions, before the rest of the rules is even defined. A newcomer asks
-- for permits alone where nobody waits and there is room, or joins a full gate's line in order of
-- arrival; or one who was handed a slot claims it. Nothing is due, paused or overridden. Anything else
-- goes on below. The same arithmetic as there, and the same writes; the random comparison with the
-- rules covers both. Without rates there are permits.
--
-- KEYS, ARGV and reply: admit.lua

local read = redis.call('HMGET', KEYS[1], 'm', 'p', ARGV[2])
if DELAY == 0 and ARGV[5] == '' and (read[2] or '') == ''
  and (not read[1] or string.byte(read[1]) == SCHEMA) then
  local meta = read[1] or struct.pack(META, SCHEMA, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1, 0, 0,
    0, FIFO, 1, 1, 100, 0, string.rep('\0', 16), 0, NEVER, 0, 0, 0, 0, 0)
  local _, forgotten, last, offset, fence, in_use, holders, visits, waiters, present, line_limit,
    arrivals, slots, freed, override, limit, exclusive, disagree, order, aging_base,
    aging_per_second, aging_max, has_drawn, drawn, rate_due, next_due, last_grant, interval, _,
    quick, kept = struct.unpack(META, meta)
  local _, is_exclusive, _, join, asked_order, _, hold, confirmed, _, its_limit, weight, cost,
    max_waiting, ttl, _, dedupe, patience, claim_window, max_eta, base, per_second, most =
    struct.unpack(REQUEST, ARGV[4])
  local now = CLOCK + offset
  local usual = forgotten == 0 and override < 0 and now >= last and now < next_due
  local is_new = visits == waiters -- The set of those inside.
  local is_newcomer = usual and not read[3]
  local enters = is_newcomer and join ~= RETURNING and waiters == 0 and in_use + weight <= its_limit
  local joins = is_newcomer and not enters and join == 1 and max_waiting == 0 and max_eta == NEVER
    and asked_order == FIFO and (waiters == 0 or order == FIFO) and in_use > 0
    and in_use >= math.max(its_limit, waiters == 0 and 0 or line_limit)
  local ends = now + ttl
  local visit, counters, slot, its_fence, event

  if enters or joins then
    if visits == 0 then disagree = 0 end
    if limit ~= its_limit then
      if limit ~= 0 and visits ~= 0 then disagree = 1 end
      limit = its_limit
    end
    exclusive = is_exclusive
  end

  if enters then
    redis.call('ZADD', KEYS[2], ends, ARGV[2])
    slot = -1
    if weight == 1 and freed == 0 then
      slot = slots
      slots = slots + 1
    elseif weight == 1 then
      slot = tonumber(redis.call('ZPOPMIN', KEYS[5])[1])
      freed = freed - 1
    end
    fence = math.max(fence + 1, WALL)
    its_fence = fence
    in_use, holders, visits, quick = in_use + weight, holders + 1, visits + 1, quick + 1
    visit = struct.pack(VISIT, HOLDING, hold, is_exclusive, 0, 0, FIFO, 0, weight, its_limit, slot,
      fence, ends, now, now, ttl, 0, 0, 0, 0, 0, 0, 0, cost, 0, 0, 0, 0, '', #ARGV[6], ARGV[6])
  elseif joins then
    ends = now + patience
    local place = 4095 * PLACES + arrivals + 1
    local function first(part)
      return tonumber(redis.call('ZRANGE', KEYS[part], 0, 0, 'WITHSCORES')[2])
    end
    event = math.min(first(2), first(3) or ends, ends)
    redis.call('ZADD', KEYS[4], place, ARGV[2]) -- The first write: the types of the others are known.
    redis.call('ZADD', KEYS[3], ends, ARGV[2])
    if waiters == 0 then
      order, aging_base, aging_per_second, aging_max = FIFO, base, per_second, most
      last_grant, line_limit = now, 0
    end
    line_limit = math.max(line_limit, its_limit)
    visit = struct.pack(VISIT, WAITING, hold, is_exclusive, 0, confirmed, FIFO, 0, weight, its_limit,
      -1, 0, 0, now, 0, ttl, 0, ends, 0, place, claim_window, patience, dedupe, cost, aging_base,
      aging_per_second, aging_max, #ARGV[3], ARGV[3], #ARGV[6], ARGV[6])
    arrivals, waiters, visits, present = arrivals + 1, waiters + 1, visits + 1, present + 1
    rate_due = 0
  elseif usual and read[3] and string.byte(read[3]) == HANDED
    and (present == 0 or order == FIFO or order == PRIORITY) then
    local _, _, exclusively, several, _, its_order, priority, its_weight, own_limit, its_slot, given,
      _, joined, _, its_ttl, revoked, patience_end, called_until, place, window, its_patience,
      its_dedupe, its_cost, aging1, aging2, aging3, _, label, at = struct.unpack(VISIT, read[3])
    if at > #read[3] and revoked == 0 then
      slot, its_fence, ttl, ends = its_slot, given, its_ttl, now + its_ttl
      redis.call('ZADD', KEYS[2], ends, ARGV[2])
      visit = struct.pack(VISIT, HOLDING, hold, exclusively, several, confirmed, its_order, priority,
        its_weight, own_limit, slot, given, ends, joined, now, ttl, 0, patience_end,
        called_until, place, window, its_patience, its_dedupe, its_cost, aging1, aging2, aging3,
        #ARGV[3], ARGV[3], #label, label)
      local waited = now - joined
      if waited == 0 then
        quick = quick + 1
      else
        counters = { struct.unpack(COUNTERS,
          redis.call('HGET', KEYS[1], 'c') or string.rep('\0', 184)) }
        local bucket = WAITS
        for _, bound in ipairs({ 1e3, 5e3, 1e4, 5e4, 1e5, 5e5, 1e6, 5e6, 1e7, 6e7, 3e8 }) do
          if waited > bound then bucket = bucket + 1 end
        end
        counters[bucket] = counters[bucket] + 1
        counters[WAIT_SUM] = counters[WAIT_SUM] + waited
        counters[24] = nil -- Where unpack stopped.
      end
    end
  end

  if visit then
    local needed = math.max(ends, now + IDLE, now + fence - WALL)
    local extends = needed + SPARE > kept
    if extends then kept = needed + (needed - now) + 2 * SPARE end
    meta = struct.pack(META, SCHEMA, 0, now, offset, fence, in_use, holders, visits, waiters,
      present, line_limit, arrivals, slots, freed, override, limit, exclusive, disagree, order,
      aging_base, aging_per_second, aging_max, has_drawn, drawn, rate_due,
      math.min(next_due, ends), last_grant, interval, now, quick, kept)
    if counters then
      redis.call('HSET', KEYS[1], 'm', meta, ARGV[2], visit, 'c',
        struct.pack(COUNTERS, unpack(counters)))
    else
      redis.call('HSET', KEYS[1], 'm', meta, ARGV[2], visit)
    end
    local ms = math.ceil((kept - now) / 1000)
    if not joins and is_new then redis.call('PEXPIRE', KEYS[2], ms) end
    if joins and waiters == 1 then redis.call('PEXPIRE', KEYS[3], ms) end
    if joins and present == 1 then redis.call('PEXPIRE', KEYS[4], ms) end
    if extends then
      for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, ms) end
    end
    if joins then
      local check = math.min(math.floor(patience / 3), math.max(event - now, 1) + (present - 1) * STAGGER)
      return struct.pack('<ddddddddddd', QUEUED, WALL, 0, present, waiters, math.max(check, 1),
        interval * present, 0, 0, 0, 0)
    end
    return struct.pack('<ddddddddddddd', GRANTED, WALL, 0, its_fence, ttl, slot, 0, 0, 0, 0, 0, 0, 0)
  end
end
