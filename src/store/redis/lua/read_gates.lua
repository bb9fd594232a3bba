-- read_gates.lua: the records of many gates as they are; the client computes how a usual gate stands. Reads
-- only.
--
-- KEYS: the hashes of gates   ARGV[1] seed
--
-- Returns the time, and of each gate: false if there is none; 1 if survey.lua is to be asked: its parts do not
-- agree, it has many rates, or it cannot be read; else
--   1 the record   2 counters   3 of a lock with one holder outside the sets: its visit
--   4 rates, as look.lua has them   5 pauses, also those that are over
-- and false for what there is not.

local FEW = 2 * struct.size(TIER)

local function only_holder(key, meta)
  if string.byte(meta, META_AT_exclusive) ~= 1 or string.byte(meta, META_AT_holders) ~= 1 then
    return false
  end
  return redis.call('HGET', key, string.sub(meta, META_AT_lone, META_BEFORE_last))
end

local function rates_of(meta, tiers)
  local offset, last = struct.unpack('<d', meta, META_AT_offset), struct.unpack('<d', meta, META_AT_last)
  return (shown_tiers({ now = math.max(CLOCK + offset, last), packed_tiers = tiers }))
end

local function records_of(key)
  local found = redis.call('HMGET', key, 'm', 'c', 's', 't', 'p')
  local meta, sound, tiers = found[1], found[3], found[4]
  if not meta then return false end
  if string.byte(meta) ~= SCHEMA or sound ~= SOUND or (tiers and #tiers > FEW) then return 1 end
  found[3] = only_holder(key, meta)
  if tiers then found[4] = rates_of(meta, tiers) end
  return found
end

local all = {}
for i, key in ipairs(KEYS) do
  local is_read, records = pcall(records_of, key)
  all[i] = is_read and records or (not is_read and 1)
end
return { struct.pack('<d', CLOCK), all }
