-- pause.lua: admit nobody for a while.
--
-- KEYS[1..5] the gate   ARGV[1] seed   ARGV[2] duration   ARGV[3] reporter
--
-- Returns DONE.

local g = open(1)
if g.error then return g.error end
open_or_make(g)
settle(g)
local till = g.now + tonumber(ARGV[2])
local own
for _, pause in ipairs(pauses(g)) do
  if pause.reporter == ARGV[3] then own = pause end
end
if own then
  own.till = till
else
  table.insert(g.pauses, { till = till, reporter = ARGV[3] })
end
g.pauses_changed = true
g.next_due = math.min(g.next_due, till)
keep_until(g, till)
local answer = reply(g, DONE)
save(g)
return answer
