-- set_hold.lua: who a lease ends with: disown (nobody; the token may travel) or adopt (this process).
--
-- KEYS[1..5] the gate
-- ARGV[1] seed   ARGV[2] visitor   ARGV[3] fence   ARGV[4] 0 adopt, 1 disown
-- ARGV[5] channel of the process, or empty
--
-- Returns GRANTED and its fields, or DONE: it is gone.

local g = open(1, ARGV[2])
if g.error then return g.error end
if not g.known then return reply(g, DONE) end
give_back_first(g)
local v = holder_of(g, ARGV[2], tonumber(ARGV[3]))
local answer
local hold = tonumber(ARGV[4])
if v and (hold == DETACHED or v.state == HOLDING) then
  v.hold, v.channel, v.confirmed = hold, ARGV[5], 0
  g.changed[v.id] = true
  answer = reply(g, GRANTED, granted_fields(g, v, 1, 0, NO_RATES))
else
  answer = reply(g, DONE)
end
save(g)
return answer
