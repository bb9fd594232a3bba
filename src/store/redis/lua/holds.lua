-- holds.lua: whether a lease has not ended. Reads only.
--
-- KEYS[1..5] the gate   ARGV[1] seed   ARGV[2] visitor   ARGV[3] fence
--
-- Returns DONE, 1 if it has not. The record says so, also where the parts of the gate do not agree; what is
-- no record says nothing.

local read = redis.call('HMGET', KEYS[1], 'm', ARGV[2])
local meta, visit = read[1], read[2]
if meta and string.byte(meta) ~= SCHEMA then
  return redis.error_reply('AIRLOCKSCHEMA ' .. string.byte(meta) .. ' ' .. SCHEMA)
end

local function holds()
  local _, META_FIELDS_UP_TO_last = struct.unpack(META_UP_TO_last, meta)
  local VISIT_FIELDS_UP_TO_expiry = struct.unpack(VISIT_UP_TO_expiry, visit)
  return (state == HANDED or state == HOLDING) and fence ~= 0 and fence == tonumber(ARGV[3])
    and expiry > math.max(CLOCK + offset, last)
end

local fine, held = pcall(holds)
return struct.pack('<dddd', DONE, WALL, 0, fine and held and 1 or 0)
