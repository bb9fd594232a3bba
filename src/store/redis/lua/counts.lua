-- counts.lua: how full a gate is.
--
-- KEYS[1..5] the gate   ARGV[1] seed
--
-- Returns DONE and in use, limit in effect, 1 if overridden, holders, waiting, 1 if it is a lock; AGAIN: so
-- much was to be ended first that the same must be asked once more.

local g = open(1)
if g.error then return g.error end
if not g.known then return reply(g, DONE, 0, 0, 0, 0, 0, 0) end
give_back_first(g)
settle(g)
local limit = g.limit
if g.override >= 0 then
  limit = g.exclusive == 1 and g.limit ~= 0 and math.min(g.override, g.limit) or g.override
end
local answer = g.more and reply(g, AGAIN) or reply(g, DONE, g.in_use, limit,
  g.override >= 0 and 1 or 0, g.holders, g.waiters, g.limit ~= 0 and g.exclusive or 0)
save(g)
return answer
