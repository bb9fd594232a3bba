-- refund.lua: give back what a request's rates charged, as far as the tiers remember it.
--
-- KEYS[1..5] the gate   ARGV[1] seed   ARGV[2] rates   ARGV[3] cost
--
-- Returns DONE.

local g = open(1)
if g.error then return g.error end
if not g.known then return reply(g, DONE) end
give_back_first(g)
give_back_all(g, read_rates(ARGV[2]), tonumber(ARGV[3]))
settle(g)
local answer = reply(g, DONE)
save(g)
return answer
