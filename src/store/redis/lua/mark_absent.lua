-- mark_absent.lua: pass a waiter over until it asks again. An unclaimed hand-over goes to the next.
--
-- KEYS[1..5] the gate   ARGV[1] seed   ARGV[2] visitor
--
-- Returns DONE, 1 if it has a place.

local g = open(1, ARGV[2])
if g.error then return g.error end
if not g.known then return reply(g, DONE, 0) end
give_back_first(g)
g.used = g.now
settle(g)
local v = find(g, ARGV[2])
local has_place = v and (is_in_line(v) or v.state == HANDED) and deadline(v) > g.now
if has_place and v.state ~= ABSENT then
  if v.state == HANDED then miss_turn(g, v) else pass_over(g, v) end
  advance(g)
end
local answer = reply(g, DONE, has_place and 1 or 0)
save(g)
return answer
