-- purge.lua: forget holders, line, rates, pauses and the operator's limit; fences go on growing.
--
-- KEYS[1..5] the gate   ARGV[1] seed
--
-- Returns DONE, 1 if the gate was known, and behind that something if that was only a portion of those
-- who are here. Or AGAIN.

local PORTION = 8

local g = open(1)
if g.error then return g.error end
if not g.known then return reply(g, DONE, 0) end
give_back_first(g)

-- Those in the line first, so that nobody is handed what the others had.
local ids = redis.call('ZRANGE', KEYS[3], 0, PORTION - 1)
if #ids < PORTION then
  for _, id in ipairs(redis.call('ZRANGE', KEYS[2], 0, PORTION - 1)) do ids[#ids + 1] = id end
  if g.lone_end ~= NEVER then ids[#ids + 1] = g.lone end
end
for _, id in ipairs(ids) do
  local v = find(g, id)
  if v then remove(g, v) else mark_inconsistent(g) end
end
local answer
if g.visits ~= 0 or g.inconsistent then
  answer = reply(g, DONE, 1) .. 'more'
else
  redis.call('HDEL', g.hash, 't', 'p')
  g.packed_tiers, g.packed_pauses, g.new_pauses = '', '', nil
  g.has_drawn, g.limit, g.interval, g.override, g.kept = 0, 0, 0, -1, 0
  g.next_due, g.used = NEVER, g.now
  answer = reply(g, DONE, 1)
end
save(g)
return answer
