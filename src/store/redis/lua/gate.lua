-- gate.lua: a gate and its visits, read from Redis and written back.
--
-- Five keys make a gate, KEYS[n] to KEYS[n + 4]: a hash, and four sorted sets.
--
--   gate   m: the gate itself (META)   c: counters   t: rate tiers (TIER)   p: pauses (PAUSE)
--          r: the run id of its server, if that matters   s: whether its parts agree (SOUND)
--          16 bytes of a visitor: its visit (VISIT, then the rates that a waiter asks for)
--   in     visitor -> when it ends: handed, holding, spent; but for one, which the gate has itself
--   out    visitor -> when it is given up or passed over: waiting, absent
--   line   visitor -> its place: waiting
--   free   slot numbers below `slots` that nobody has
--
-- A visitor has one record per gate, whatever its state; the sets are indexes of these. Sets are
-- written at once, the hash at the end (save). In between `s` is not SOUND, so that whoever comes after
-- a script that ended there makes the sets and counts again from the records (repair.lua).
-- docs/formats.md tells the fields.

local PAUSE = '<dBc0'

local endings, grants = 8, 8 -- So many visits are ended, and handed over, in one call.

-- One constructor: a table that grows field by field is copied again and again.
local function read_visit(id, packed)
  local VISIT_FIELDS, at = struct.unpack(VISIT, packed)
  return {
    id = id, state = state, hold = hold, exclusive = exclusive, several = several,
    confirmed = confirmed, order = order, priority = priority, weight = weight, limit = limit,
    slot = slot, fence = fence, expiry = expiry, joined = joined, granted = granted, ttl = ttl,
    revoked = revoked, patience_end = patience_end, called_until = called_until, place = place,
    claim_window = claim_window, patience = patience, dedupe = dedupe, cost = cost,
    aging_base = aging_base, aging_per_second = aging_per_second, aging_max = aging_max,
    channel = channel, label = label, requested_rates = string.sub(packed, at),
  }
end

local function write_visit(v)
  return struct.pack(VISIT, VISIT_FIELDS_UP_TO_aging_max_OF_v, #v.channel, v.channel, #v.label, v.label)
    .. v.requested_rates
end

-- A record, or nil if it is none: then the gate is repaired in the next call.
local function read_or_mark(g, id, packed)
  local fine, v = pcall(read_visit, id, packed)
  if fine then return v end
  g.inconsistent = true
end

-- The time at this gate never goes back: where the server's clock does, it goes on from where it
-- was.
local function set_time(g)
  g.now = CLOCK + g.offset
  if g.now < g.last then
    g.offset = g.last - CLOCK
    g.now = g.last
    g.set_back = true
  end
  g.last = g.now
end

-- A new primary may not know what the old one granted last: nobody gets in before that has ended.
local function await_handover(g, known)
  local run = RUN or string.match(redis.call('INFO', 'server'), 'run_id:(%w+)')
  if known == run then return end
  g.run = run
  if not known then return end
  local reporter = 'failover'
  g.packed_pauses = g.packed_pauses .. struct.pack(PAUSE, g.now + DELAY, #reporter, reporter)
  g.new_pauses = true
end

-- Every step that changes more than the hash begins with one of these. The first is refused when memory
-- is full. Redis refuses no write of a script after its first, so the second makes the rest possible
-- even then: what gives back, renews or looks is never refused.
local function mark(g)
  if g.exists then redis.call('HSET', g.hash, 's', '') end
  g.marked = true
end

local function give_back_first(g)
  redis.call('HDEL', g.hash, 's')
  g.marked = true
end

-- A write that save() completes.
local function change(g, ...)
  if not g.marked then mark(g) end
  return redis.call(...)
end

local repair -- repair.lua

-- How many of those inside are in the set.
local function in_set(g) return g.visits - g.waiters - (g.lone_end ~= NEVER and 1 or 0) end

local function agrees(g, sizes)
  return sizes[1] == in_set(g) and sizes[2] == g.waiters and sizes[3] == g.present
    and sizes[4] == g.freed
end

-- The gate whose keys begin at KEYS[at], and the visit of `visitor` there. g.known: whether there
-- is such a gate. g.error: what the script is to return instead of an answer.
local function open(at, visitor)
  local g = { at = at, hash = KEYS[at], visits_read = {}, changed = {}, requester = visitor }
  local read = redis.call('HMGET', g.hash, 'm', 't', 'p', 's', 'r', visitor or '')
  -- Somebody else's key of another type ends the script here, before anything is written.
  local sizes = {}
  for part = 1, 4 do sizes[part] = redis.call('ZCARD', KEYS[at + part]) end
  local meta = read[1]
  g.exists = meta
  if meta then
    local schema = string.byte(meta)
    if schema ~= SCHEMA then
      g.error = redis.error_reply('AIRLOCKSCHEMA ' .. schema .. ' ' .. SCHEMA)
      return g
    end
    schema, META_FIELDS_OF_g = struct.unpack(META, meta)
  else
    META_FIELDS_OF_g = META_NEW
  end
  g.known = meta and g.forgotten == 0
  g.packed_tiers = read[2] or ''
  g.packed_pauses = read[3] or ''
  set_time(g)
  if DELAY ~= 0 then await_handover(g, read[5]) end
  if (meta and read[4] ~= SOUND) or not agrees(g, sizes) then
    repair(g, read[4])
  elseif read[6] then
    g.visits_read[visitor] = read_or_mark(g, visitor, read[6]) or false
  end
  return g
end

-- A visitor's record, or nil.
local function find(g, id)
  local v = g.visits_read[id]
  if v == nil then
    local packed = redis.call('HGET', g.hash, id)
    v = packed and read_or_mark(g, id, packed) or false
    g.visits_read[id] = v
  end
  return v or nil
end

local function keep_until(g, moment)
  if moment > (g.needed or 0) then g.needed = moment end
end

-- Every key ends by itself, later than what is in it, and all at once: a part of a gate is none. They
-- end when the server's clock says so, which is told anew where the gate's time has left that clock
-- behind. An operator's limit keeps them all. A fence that is ahead of a clock that was set back is
-- needed until the clock has caught up.
local function plan_expiry(g)
  local needed = math.max(g.needed or 0, g.now + IDLE, g.now + g.fence - WALL)
  local extends = needed + SPARE > g.kept
  if extends then g.kept = needed + (needed - g.now) + 2 * SPARE end
  g.expires_anew = extends or g.set_back or g.lifted
end

local function expire(g)
  local ms = math.ceil((g.kept - g.now) / 1000)
  for part = 0, 4 do
    if g.override >= 0 then
      redis.call('PERSIST', KEYS[g.at + part])
    elseif g.expires_anew or (g.made and g.made[part]) then
      redis.call('PEXPIRE', KEYS[g.at + part], ms)
    end
  end
end

local function write_pauses(g)
  local packed = {}
  for i, pause in ipairs(g.pauses) do
    packed[i] = struct.pack(PAUSE, pause.till, #pause.reporter, pause.reporter)
  end
  return table.concat(packed)
end

local function write_meta(g)
  return struct.pack(META, SCHEMA, META_FIELDS_OF_g)
end

-- Writes back what has changed.
local function save(g)
  plan_expiry(g)
  if g.write_free_slots then g.write_free_slots(g) end
  local gone, fields = {}, { 'm', write_meta(g) }
  local function add(field, value)
    fields[#fields + 1] = field
    fields[#fields + 1] = value
  end
  for id in pairs(g.changed) do
    local v = g.visits_read[id]
    if v then add(id, write_visit(v)) else gone[#gone + 1] = id end
  end
  if g.write_tiers then add('t', g.write_tiers(g)) end
  if g.pauses_changed then
    add('p', write_pauses(g))
  elseif g.new_pauses then
    add('p', g.packed_pauses)
  end
  if g.run then add('r', g.run) end
  if g.counters_changed then add('c', struct.pack(COUNTERS, unpack(g.counters))) end
  if #gone > 0 then change(g, 'HDEL', g.hash, unpack(gone)) end
  if not g.exists then
    redis.call('HSET', g.hash, unpack(fields))
    expire(g)
    fields = {}
  else
    expire(g)
  end
  add('s', g.inconsistent and '' or g.state or SOUND)
  redis.call('HSET', g.hash, unpack(fields))
end

local function open_or_make(g)
  g.known = true
  g.forgotten = 0
  g.used = g.now
end

-- Counters.

local function counters(g)
  if not g.counters then
    local packed = redis.call('HGET', g.hash, 'c')
    if packed then
      g.counters = { struct.unpack(COUNTERS, packed) }
      g.counters[24] = nil -- Where unpack stopped.
    else
      g.counters = {}
      for i = 1, 23 do g.counters[i] = 0 end
    end
  end
  return g.counters
end

local function bump(g, which)
  local all = counters(g)
  all[which] = all[which] + 1
  g.counters_changed = true
end

local BOUNDS = { 1e3, 5e3, 1e4, 5e4, 1e5, 5e5, 1e6, 5e6, 1e7, 6e7, 3e8 }

local function count_grant(g, waited)
  if waited == 0 then
    g.quick = g.quick + 1
    return
  end
  local bucket = 0
  while bucket < 11 and waited > BOUNDS[bucket + 1] do bucket = bucket + 1 end
  bump(g, WAITS + bucket)
  g.counters[WAIT_SUM] = g.counters[WAIT_SUM] + waited
end

-- Pauses.

local function pauses(g)
  if not g.pauses then
    g.pauses = {}
    local at = 1
    while at <= #g.packed_pauses do
      local pause = {}
      pause.till, pause.reporter, at = struct.unpack(PAUSE, g.packed_pauses, at)
      if pause.till > g.now then
        g.pauses[#g.pauses + 1] = pause
      else
        g.pauses_changed = true
      end
    end
  end
  return g.pauses
end

-- 0 if nobody pauses it.
local function paused_until(g)
  local till = 0
  if g.packed_pauses ~= '' or g.pauses then
    for _, pause in ipairs(pauses(g)) do till = math.max(till, pause.till) end
  end
  return till
end
