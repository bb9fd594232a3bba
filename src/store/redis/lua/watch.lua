-- watch.lua: from now on the visitor's process is told when its state changes.
--
-- KEYS[1..5] the gate
-- ARGV[1] seed   ARGV[2] visitor   ARGV[3] channel, subscribed   ARGV[4] 1: a bound waiter that does
-- not listen there any more is absent
--
-- Returns DONE, 1 if there is nothing to tell yet, 0 if it should ask instead.

local g = open(1, ARGV[2])
if g.error then return g.error end
local v = g.known and find(g, ARGV[2])
if not v then return reply(g, DONE, 0) end

local function has_news()
  if v.state == HOLDING then return v.revoked ~= 0 end
  return v.state ~= WAITING or v.called_until ~= 0
end

if has_news() then return reply(g, DONE, 0) end
give_back_first(g)
v.channel = ARGV[3]
v.confirmed = v.hold == BOUND and tonumber(ARGV[4]) or 0
g.changed[v.id] = true
local answer = reply(g, DONE, 1)
save(g)
return answer
