-- leave.lua: give up a place in the line or an unclaimed hand-over.
--
-- KEYS[1..5] the gate   ARGV[1] seed   ARGV[2] visitor   ARGV[3] 1: also what it holds, whatever the fence
--
-- Returns DONE, 1 if there was something to give up.

local g = open(1, ARGV[2])
if g.error then return g.error end
if not g.known then return reply(g, DONE, 0) end
give_back_first(g)
g.used = g.now
settle(g)
local v = find(g, ARGV[2])
local waits = v and (is_in_line(v) or v.state == HANDED) and deadline(v) > g.now
local ends = waits or (v and v.state == HOLDING and ARGV[3] == '1')
if waits then bump(g, ABANDONED) end
if ends then
  forget_with_refund(g, v)
  advance(g)
end
local answer = reply(g, DONE, ends and 1 or 0)
save(g)
return answer
