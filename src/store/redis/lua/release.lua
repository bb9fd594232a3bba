-- release.lua: give a permit back and hand freed capacity to the line.
--
-- KEYS[1..5] the gate   ARGV[1] seed   ARGV[2] visitor   ARGV[3] fence
--
-- Returns DONE, 1 if the lease was live, 0 if it had already ended.

local g = open(1, ARGV[2])
if g.error then return g.error end
if not g.known then return reply(g, DONE, 0) end
give_back_first(g)
local v = holder_of(g, ARGV[2], tonumber(ARGV[3]))
if v then
  if v.revoked ~= 0 then bump(g, REVOKED) end
  forget_with_refund(g, v)
  advance(g)
end
local answer = reply(g, DONE, v and 1 or 0)
save(g)
return answer
