-- survey.lua: how a gate stands, without naming those inside or in line. Reads only: what has run out
-- since the last step is counted and not ended, and nobody is handed anything.
--
-- KEYS[1..5] the gate   ARGV[1] seed   ARGV[2] portions of what has run out that are counted already
--
-- Returns nil for an unknown gate; else
--   1 doubles, as look.lua has them; more: ask for the next portion
--   2 doubles: the time at this gate, visits, 1 if nothing but visits keeps it from being forgotten, 0 if its
--     parts do not agree: then its visits are to be counted instead of what is said of them here
--   3 doubles: what has run out, of this portion: weight, holders, waiters, visits, leases expired,
--     leases revoked, hand-overs missed, waiters abandoned
--   4 rates   5 pauses, as look.lua has them
--   6 the field of the only holder of a lock and its value, or nothing

local read = redis.call('HMGET', KEYS[1], 'm', 'c', 't', 'p', 's')
local meta, counted, tiers, paused = read[1], read[2] or string.rep('\0', 23 * 8), read[3] or '', read[4] or ''
local is_sound = read[5] == SOUND
if not meta then return nil end
if string.byte(meta) ~= SCHEMA then
  return redis.error_reply('AIRLOCKSCHEMA ' .. string.byte(meta) .. ' ' .. SCHEMA)
end
local _, META_FIELDS = struct.unpack(META, meta)
if forgotten == 1 then return nil end
local now = math.max(CLOCK + offset, last)

local ended = { weight = 0, holders = 0, waiters = 0, visits = 0, expired = 0, revoked = 0, missed = 0,
  abandoned = 0 }
local more = 0

-- As reap() and pass_over() in line.lua would.
local function count_ended(packed)
  local VISIT_FIELDS_UP_TO_patience_end = struct.unpack(VISIT_UP_TO_patience_end, packed)
  local gone = true
  if state == HANDED or state == HOLDING then
    ended.weight, ended.holders = ended.weight + weight, ended.holders + 1
  end
  if state == HOLDING then
    local how = revoked ~= 0 and 'revoked' or 'expired'
    ended[how] = ended[how] + 1
  elseif state ~= SPENT then
    gone = patience_end <= now
    if state == HANDED then ended.missed = ended.missed + 1 end
    if gone then ended.abandoned = ended.abandoned + 1 end
    if gone ~= (state == HANDED) then ended.waiters = ended.waiters + (gone and 1 or -1) end
  end
  if gone then ended.visits = ended.visits + 1 end
end

local PORTION = 48 -- Of each set.
local from = tonumber(ARGV[2]) * PORTION

local function add_due(key, ids)
  local found = redis.call('ZRANGE', key, from, from + PORTION - 1, 'WITHSCORES')
  for i = 1, #found, 2 do
    if tonumber(found[i + 1]) > now then return end
    ids[#ids + 1] = found[i]
  end
  if #found == 2 * PORTION then more = 1 end
end

-- As open() in gate.lua does. Without it the sets would not show who has run out.
local function has_sets()
  local lone_one = lone_end ~= NEVER and 1 or 0
  return redis.call('ZCARD', KEYS[2]) == visits - waiters - lone_one
    and redis.call('ZCARD', KEYS[3]) == waiters
end

is_sound = is_sound and has_sets()

if is_sound and now >= next_due then
  local ids = {}
  add_due(KEYS[2], ids)
  add_due(KEYS[3], ids)
  if from == 0 and lone_end <= now then ids[#ids + 1] = lone end
  if #ids > 0 then
    for _, packed in ipairs(redis.call('HMGET', KEYS[1], unpack(ids))) do
      is_sound = is_sound and packed and pcall(count_ended, packed)
    end
  end
end

local is_lock = limit ~= 0 and exclusive or 0

local function only_holder()
  if not is_sound or is_lock == 0 or holders - ended.holders ~= 1 then return {} end
  local id = lone
  if lone_end <= now or lone_end == NEVER then
    local after = '(' .. string.format('%.17g', now)
    id = redis.call('ZRANGEBYSCORE', KEYS[2], after, '+inf', 'LIMIT', 0, 1)[1]
  end
  local packed = id and redis.call('HGET', KEYS[1], id)
  return packed and { id, packed } or {}
end

local function pauses_in_force()
  local kept, at, packed = {}, 1, paused
  while at <= #packed do
    local till, reporter
    till, reporter, at = struct.unpack('<dBc0', packed, at)
    if till > now then kept[#kept + 1] = struct.pack('<dBc0', till, #reporter, reporter) end
  end
  return table.concat(kept)
end

local effective = limit
if override >= 0 then effective = is_lock == 1 and math.min(override, limit) or override end
local rated, is_rated = shown_tiers({ now = now, packed_tiers = tiers })
local in_force = pauses_in_force()
local is_quiet = in_force == '' and not is_rated and override < 0 and now - used >= IDLE
return {
  struct.pack('<ddddddddddddd', DONE, WALL, more, in_use, effective, override, holders, waiters, is_lock,
    visits > ended.visits and disagree or 0, order, fence, quick) .. counted,
  struct.pack('<dddd', now, visits, is_quiet and 1 or 0, is_sound and 1 or 0),
  struct.pack('<dddddddd', ended.weight, ended.holders, ended.waiters, ended.visits, ended.expired,
    ended.revoked, ended.missed, ended.abandoned),
  rated, in_force, only_holder(),
}
