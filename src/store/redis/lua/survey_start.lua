-- survey_start.lua: answers for usual gates, many in one call, before what the others need is defined.
-- Nothing has run out there, their parts agree, and they have no rates, no pauses and no only holder of a
-- lock to show.
--
-- KEYS[1..5] a gate, KEYS[6..10] another, ...   ARGV[1] seed
--
-- Of one gate: as survey.lua says. Of several: a reply for each; false: it is unknown; 1: ask for it
-- alone.

local meta, counted, tiers, paused, is_sound
local forgotten, order, offset, override, lone, last, used, next_due, lone_end, fence, in_use, holders,
  visits, waiters, limit, exclusive, disagree, quick, now, is_lock, effective, _
local NO_COUNTS = string.rep('\0', 23 * 8)

local function take_in(read)
  meta, counted, tiers, paused = read[1], read[2] or NO_COUNTS, read[3] or '', read[4] or ''
  is_sound = read[5] == SOUND
  if not meta or string.byte(meta) ~= SCHEMA then return end
  _, forgotten, order, _, offset, _, override, lone, last, used, next_due, lone_end, fence, in_use,
    holders, visits, waiters, _, _, _, _, limit, exclusive, disagree, _, _, _, _, _, _, _, _, quick =
    struct.unpack(META, meta)
  now = math.max(CLOCK + offset, last)
  is_lock = limit ~= 0 and exclusive or 0
  effective = limit
  if override >= 0 then
    effective = is_lock == 1 and math.min(override, limit) or override
  end
end

local function is_unknown() return not meta or (string.byte(meta) == SCHEMA and forgotten == 1) end

local function head(more, shows_disagreement)
  return struct.pack('<ddddddddddddd', DONE, WALL, more, in_use, effective, override, holders, waiters,
    is_lock, shows_disagreement and disagree or 0, order, fence, quick) .. counted
end

local function rest(may_be_idle)
  local quiet = may_be_idle and override < 0 and now - used >= IDLE
  return struct.pack('<dddd', now, visits, quiet and 1 or 0, is_sound and 1 or 0)
end

local function is_usual()
  return string.byte(meta) == SCHEMA and is_sound and (now < next_due or visits == 0) and tiers == ''
    and paused == '' and (is_lock == 0 or holders ~= 1)
end

local function usual(key)
  local found = redis.pcall('HMGET', key, 'm', 'c', 't', 'p', 's')
  if found.err or not pcall(take_in, found) then return 1 end
  if is_unknown() then return false end
  return is_usual() and { head(0, visits ~= 0), rest(true) } or 1
end

if #KEYS > 5 then
  local all = {}
  for at = 1, #KEYS, 5 do all[#all + 1] = usual(KEYS[at]) end
  return all
end

take_in(redis.call('HMGET', KEYS[1], 'm', 'c', 't', 'p', 's'))
if is_unknown() then return nil end
if string.byte(meta) ~= SCHEMA then
  return redis.error_reply('AIRLOCKSCHEMA ' .. string.byte(meta) .. ' ' .. SCHEMA)
end
if is_usual() then return { head(0, visits ~= 0), rest(true) } end
