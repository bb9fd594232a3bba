-- revoke.lua: tell holders to stop; the slot moves on release or after a grace, or at once.
--
-- KEYS[1..5] the gate   ARGV[1] seed   ARGV[2] visitor, empty: everyone inside   ARGV[3] 1: at once
--
-- Returns DONE and how many, or AGAIN.

local MARGIN = 100000

local g = open(1)
if g.error then return g.error end
if not g.known then return reply(g, DONE, 0) end
give_back_first(g)
g.used = g.now
settle(g)
if g.more then
  local answer = reply(g, AGAIN)
  save(g)
  return answer
end

local function revoke_one(v)
  if ARGV[3] == '1' then
    bump(g, REVOKED)
    tell(g, v)
    return forget_with_refund(g, v)
  end
  -- A holder renews at a third of its ttl, so it has heard of this by then.
  local till = g.now + math.floor(v.ttl / 3) + MARGIN
  if v.revoked == 0 then v.revoked = till end
  if till < v.expiry then v.expiry = till end
  set_deadline(g, v)
  tell(g, v)
end

local holders = {}
if ARGV[2] ~= '' then
  holders[1] = find(g, ARGV[2])
else
  for _, id in ipairs(insiders(g)) do holders[#holders + 1] = find(g, id) end
end
local count = 0
for _, v in ipairs(holders) do
  if is_inside(v) then
    revoke_one(v)
    count = count + 1
  end
end
settle(g)
local answer = reply(g, DONE, count)
save(g)
return answer
