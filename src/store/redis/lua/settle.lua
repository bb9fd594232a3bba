-- settle.lua: bring a gate up to the present, and forget it if it has long been idle.
--
-- KEYS[1..5] the gate   ARGV[1] seed   ARGV[2] 1: forget it if it is idle
--
-- Returns DONE, 1 if there is such a gate (still). One of another schema is left as it is, so that
-- whoever goes over all gates can go on.

local g = open(1)
if g.error then return reply(g, DONE, 1) end
if not g.known then return reply(g, DONE, 0) end
give_back_first(g)
settle(g)

local function is_idle()
  if g.visits ~= 0 or g.override >= 0 or g.now - g.used < IDLE then return false end
  if paused_until(g) ~= 0 then return false end
  if g.packed_tiers == '' then return true end
  rates().drop_idle_tiers(g)
  return #g.tiers == 0
end

if ARGV[2] == '1' and is_idle() then
  redis.call('UNLINK', KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5])
  -- Fences go on growing even if the server's clock was set back.
  if g.fence >= WALL then
    local fence, last, offset = g.fence, g.last, g.offset
    META_FIELDS_OF_g = META_NEW
    g.forgotten, g.fence, g.last, g.offset = 1, fence, last, offset
    redis.call('HSET', g.hash, 'm', write_meta(g), 's', SOUND)
    redis.call('PEXPIRE', g.hash, math.ceil((fence - WALL + SPARE) / 1000))
  end
  return reply(g, DONE, 0)
end
local answer = reply(g, DONE, 1)
save(g)
return answer
