-- purge.lua: forget holders, line, rates, pauses and the operator's limit; fences go on growing.
--
-- KEYS[1..5] the gate   ARGV[1] seed
--
-- Returns DONE, 1 if the gate was known.

local g = open(1)
if g.error then return g.error end
if not g.known then return reply(g, DONE, 0) end
give_back_first(g)
for _, ids in ipairs({ insiders(g), redis.call('ZRANGE', KEYS[3], 0, -1) }) do
  for _, id in ipairs(ids) do
    local v = find(g, id)
    if v then tell(g, v) end
  end
end
local packed = redis.call('HGET', g.hash, 'c')
redis.call('DEL', KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5])
if packed then redis.call('HSET', g.hash, 'c', packed) end
g.in_use, g.holders, g.visits, g.waiters, g.present, g.slots, g.freed = 0, 0, 0, 0, 0, 0, 0
g.has_drawn, g.limit, g.interval, g.override, g.kept = 0, 0, 0, -1, 0
g.lone, g.lone_end, g.next_due, g.used = NOBODY, NEVER, NEVER, g.now
local answer = reply(g, DONE, 1)
save(g)
return answer
