-- admit_fast.lua: the usual questions, before the rest of the rules is even defined. One who was handed
-- a slot claims it; a newcomer asks for permits alone where nobody waits and there is room, or joins a
-- full gate's line in order of arrival. Nothing is due, paused or overridden. Anything else goes on
-- below. The same arithmetic as there, and the same writes; the random comparison with the rules
-- covers both. Without rates there are permits.
--
-- KEYS, ARGV and reply: admit.lua

local may_wait = string.byte(ARGV[4], 4) ~= 0
local read = may_wait and redis.call('HMGET', KEYS[1], 'm', 'p', ARGV[2], 's', 'r', 'c')
  or redis.call('HMGET', KEYS[1], 'm', 'p', ARGV[2], 's', 'r')
local is_plain = (DELAY == 0 or (RUN and read[5] == RUN)) and ARGV[5] == '' and (read[2] or '') == ''
  and (not read[1] or (string.byte(read[1]) == SCHEMA and read[4] == SOUND))

if is_plain and may_wait and read[1] and read[3] and string.byte(read[3]) == HANDED then
  local meta, handed, channel = read[1], read[3], ARGV[3]
  local hold, confirmed = string.byte(ARGV[4], 7, 8)
  local _, META_FIELDS_UP_TO_fence = struct.unpack(META_UP_TO_fence, meta)
  local _, _, exclusive, several, _, _, _, _, _, slot, its_fence, revoked, its_end, _, joined, ttl =
    struct.unpack(VISIT_UP_TO_ttl, handed)
  local now = CLOCK + offset
  local ends, waited = now + ttl, now - joined
  -- Its process is the one it asked through before, and it asked for no rates.
  local its_label = VISIT_AT_channel + 2 + #channel
  local is_same = struct.unpack('<H', handed, VISIT_AT_channel) == #channel
    and string.sub(handed, VISIT_AT_channel + 2, its_label - 1) == channel
    and #handed == its_label + string.byte(handed, its_label)
  if is_same and override < 0 and now >= last and now < next_due and revoked == 0 and ends >= its_end
    and waited > 0 and (present == 0 or order == FIFO or order == PRIORITY)
    and math.max(ends, now + IDLE, now + fence - WALL) + SPARE <= kept then
    local is_lone = lone == ARGV[2] and lone_end ~= NEVER
    if is_lone then
      lone_end = ends
    else
      redis.call('ZCARD', KEYS[2]) -- Ends here if it is no set.
    end
    local counters = read[6]
    if not counters then counters = string.rep('\0', 184) end
    local at = 8 * WAITS - 7
    for _, bound in ipairs({ 1e3, 5e3, 1e4, 5e4, 1e5, 5e5, 1e6, 5e6, 1e7, 6e7, 3e8 }) do
      if waited <= bound then break end
      at = at + 8
    end
    redis.call('HSET', KEYS[1],
      'm', string.sub(meta, 1, META_BEFORE_last)
        .. struct.pack('<dddd', now, now, math.min(next_due, ends), lone_end)
        .. string.sub(meta, META_AT_fence),
      ARGV[2], string.char(HOLDING, hold, exclusive, several, confirmed)
        .. string.sub(handed, VISIT_AT_order, VISIT_BEFORE_expiry) .. struct.pack('<dd', ends, now)
        .. string.sub(handed, VISIT_AT_joined),
      'c', string.sub(counters, 1, at - 1) .. struct.pack('<d', struct.unpack('<d', counters, at) + 1)
        .. string.sub(counters, at + 8, 8 * WAIT_SUM - 8)
        .. struct.pack('<d', struct.unpack('<d', counters, 8 * WAIT_SUM - 7) + waited))
    -- Last, because it ends later than before: a set that is early is noticed.
    if not is_lone then redis.call('ZADD', KEYS[2], ends, ARGV[2]) end
    return struct.pack('<ddddddddddddd', GRANTED, WALL, 0, its_fence, ttl, slot, 0, 0, 0, 0, 0, 0, 0)
  end
elseif is_plain and not read[3] then
  local meta = read[1] or struct.pack(META, SCHEMA, META_NEW)
  local _, META_FIELDS = struct.unpack(META, meta)
  local _, is_exclusive, _, join, asked_order, _, hold, confirmed, _, its_limit, weight, cost,
    max_waiting, ttl, _, dedupe, patience, claim_window, max_eta, base, per_second, most =
    struct.unpack(REQUEST, ARGV[4])
  local now = CLOCK + offset
  local usual = forgotten == 0 and override < 0 and now >= last and now < next_due
  local in_set = visits - waiters - (lone_end ~= NEVER and 1 or 0)
  local enters = usual and join ~= RETURNING and waiters == 0 and in_use + weight <= its_limit
  local slot = -1
  if enters and weight == 1 and freed == 0 then
    slot = slots
    slots = slots + 1
  elseif enters and weight == 1 then
    slot = lone_end ~= NEVER and tonumber(redis.call('ZRANGE', KEYS[5], '0', '0')[1])
    enters = slot
  end
  local joins = usual and not enters and join == 1 and max_waiting == 0 and max_eta == NEVER
    and asked_order == FIFO and (waiters == 0 or order == FIFO) and in_use > 0
    and in_use >= math.max(its_limit, waiters == 0 and 0 or line_limit)
  local ends = now + ttl
  local visit, event, enters_set

  if enters or joins then
    if visits == 0 then disagree = 0 end
    if limit ~= its_limit then
      if limit ~= 0 and visits ~= 0 then disagree = 1 end
      limit = its_limit
    end
    exclusive = is_exclusive
  end

  if enters then
    enters_set = lone_end ~= NEVER
    if enters_set then
      redis.call('ZADD', KEYS[2], ends, ARGV[2])
    else
      lone, lone_end = ARGV[2], ends
    end
    if weight == 1 and freed > 0 then
      redis.call('ZREM', KEYS[5], slot)
      freed = freed - 1
    end
    fence = math.max(fence + 1, WALL)
    in_use, holders, visits, quick = in_use + weight, holders + 1, visits + 1, quick + 1
    visit = struct.pack(VISIT, HOLDING, hold, is_exclusive, 0, 0, FIFO, 0, weight, its_limit, slot,
      fence, 0, ends, now, now, ttl, 0, 0, 0, 0, 0, 0, cost, 0, 0, 0, 0, '', #ARGV[6], ARGV[6])
  elseif joins then
    ends = now + patience
    local place = 4095 * PLACES + arrivals + 1
    local function first(part)
      return tonumber(redis.call('ZRANGE', KEYS[part], '0', '0', 'WITHSCORES')[2]) or NEVER
    end
    event = math.min(lone_end, in_set > 0 and first(2) or NEVER, first(3), ends)
    redis.call('ZADD', KEYS[4], place, ARGV[2]) -- The first write: the types of the others are known.
    redis.call('ZADD', KEYS[3], ends, ARGV[2])
    if waiters == 0 then
      order, aging_base, aging_per_second, aging_max = FIFO, base, per_second, most
      last_grant, line_limit = now, 0
    end
    line_limit = math.max(line_limit, its_limit)
    visit = struct.pack(VISIT, WAITING, hold, is_exclusive, 0, confirmed, FIFO, 0, weight, its_limit,
      -1, 0, 0, 0, 0, now, ttl, ends, 0, place, claim_window, patience, dedupe, cost, aging_base,
      aging_per_second, aging_max, #ARGV[3], ARGV[3], #ARGV[6], ARGV[6])
    arrivals, waiters, visits, present = arrivals + 1, waiters + 1, visits + 1, present + 1
    rate_due = 0
  end

  if visit then
    local needed = math.max(ends, now + IDLE, now + fence - WALL)
    local extends = needed + SPARE > kept
    if extends then kept = needed + (needed - now) + 2 * SPARE end
    last, used, next_due = now, now, math.min(next_due, ends)
    meta = struct.pack(META, SCHEMA, META_FIELDS)
    local ms = math.ceil((kept - now) / 1000)
    if not read[1] then
      redis.call('HSET', KEYS[1], 'm', meta, ARGV[2], visit)
      redis.call('PEXPIRE', KEYS[1], ms)
      redis.call('HSET', KEYS[1], 's', SOUND)
    else
      if enters_set and in_set == 0 then redis.call('PEXPIRE', KEYS[2], ms) end
      if joins and waiters == 1 then redis.call('PEXPIRE', KEYS[3], ms) end
      if joins and present == 1 then redis.call('PEXPIRE', KEYS[4], ms) end
      if extends then
        for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, ms) end
      end
      redis.call('HSET', KEYS[1], 'm', meta, ARGV[2], visit)
    end
    if joins then
      local check = math.min(math.floor(patience / 3), math.max(event - now, 1) + (present - 1) * STAGGER)
      return struct.pack('<ddddddddddd', QUEUED, WALL, 0, present, waiters, math.max(check, 1),
        interval * present, 0, 0, 0, 0)
    end
    return struct.pack('<ddddddddddddd', GRANTED, WALL, 0, fence, ttl, slot, 0, 0, 0, 0, 0, 0, 0)
  end
end
