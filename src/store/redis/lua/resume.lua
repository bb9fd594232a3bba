-- resume.lua: lift a reporter's pause.
--
-- KEYS[1..5] the gate   ARGV[1] seed   ARGV[2] reporter
--
-- Returns DONE, 1 if there was one.

local g = open(1)
if g.error then return g.error end
if not g.known then return reply(g, DONE, 0) end
give_back_first(g)
g.used = g.now
local others, found = {}, 0
for _, pause in ipairs(pauses(g)) do
  if pause.reporter == ARGV[2] then found = 1 else others[#others + 1] = pause end
end
g.pauses = others
g.pauses_changed = true
settle(g)
local answer = reply(g, DONE, found)
save(g)
return answer
