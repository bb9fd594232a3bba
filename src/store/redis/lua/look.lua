-- look.lua: all that an operator sees of a gate; of a large one the first portion of its visits, and
-- visits.lua has the others.
--
-- KEYS[1..5] the gate   ARGV[1] seed
--
-- Returns nil for an unknown gate; { AGAIN }: so much was to be ended first that the same must be asked
-- once more; else
--   1 doubles: kind DONE, time, more, in use, limit in effect, override or -1, holders, waiting,
--     1 if it is a lock, limits disagree, order, last fence, granted without waiting, 23 counters
--   2 fields of the hash and their values, in turn   3 where visits.lua is to continue, '0': this is all
--   4 rates: the tier as in the hash and four doubles: limit, remaining, retry, reset
--   5 pauses as in the hash
--   6 doubles: the time at this gate

local g = open(1)
if g.error then return g.error end
if not g.known then return nil end
give_back_first(g)
settle(g)
if g.more then
  save(g)
  return { reply(g, AGAIN) }
end
local limit = g.limit
if g.override >= 0 then
  limit = g.exclusive == 1 and g.limit ~= 0 and math.min(g.override, g.limit) or g.override
end
local head = reply(g, DONE, g.in_use, limit, g.override, g.holders, g.waiters,
  g.limit ~= 0 and g.exclusive or 0, g.visits ~= 0 and g.disagree or 0, g.order, g.fence, g.quick,
  unpack(counters(g)))
local tiers = shown_tiers(g)
pauses(g)
local paused = write_pauses(g)
save(g)
local visits = redis.call('HSCAN', g.hash, '0', 'COUNT', PORTION)
return { head, visits[2], visits[1], tiers, paused, struct.pack('<d', g.now) }
