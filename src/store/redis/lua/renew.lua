-- renew.lua: extend a lease from now, and change its weight if asked to.
--
-- KEYS[1..5] the gate
-- ARGV[1] seed   ARGV[2] visitor   ARGV[3] fence   ARGV[4] ttl   ARGV[5] weight, 0: as it is
--
-- Returns DONE and 0 renewed, 1 revoked, 2 no room for the weight, 3 gone.

local RENEWED, IS_REVOKED, NO_ROOM, GONE = 0, 1, 2, 3

local g = open(1, ARGV[2])
if g.error then return g.error end
if not g.known then return reply(g, DONE, GONE) end
give_back_first(g)

local function change_weight(v, weight)
  if weight == 0 or weight == v.weight then return true end
  local room = weight <= v.limit
  if room and weight > v.weight then
    g.in_use = g.in_use - v.weight
    room = fits(g, v.limit, v.exclusive, weight)
    g.in_use = g.in_use + v.weight
  end
  if not room then return false end
  detach(g, v)
  v.weight = weight
  give_slot(g, v)
  attach(g, v)
  return true
end

local function renew()
  local v = holder_of(g, ARGV[2], tonumber(ARGV[3]))
  if not v or v.state ~= HOLDING then return GONE end
  if v.revoked ~= 0 then return IS_REVOKED end
  if not change_weight(v, tonumber(ARGV[5])) then return NO_ROOM end
  v.ttl = tonumber(ARGV[4])
  v.expiry = g.now + v.ttl
  set_deadline(g, v)
  advance(g)
  return RENEWED
end

local result = renew()
local answer = reply(g, DONE, result)
save(g)
return answer
