-- set_limit.lua: an operator's limit in the place of every request's own.
--
-- KEYS[1..5] the gate   ARGV[1] seed   ARGV[2] limit, -1: none any more
--
-- Returns DONE.

local g = open(1)
if g.error then return g.error end
local limit = tonumber(ARGV[2])
if not g.known and limit < 0 then return reply(g, DONE) end
give_back_first(g)
open_or_make(g)
g.lifted = limit < 0 and g.override >= 0
g.override = limit
settle(g)
local answer = reply(g, DONE)
save(g)
return answer
