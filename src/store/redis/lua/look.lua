-- look.lua: all that an operator sees of a gate.
--
-- KEYS[1..5] the gate   ARGV[1] seed
--
-- Returns nil for an unknown gate; { AGAIN }: so much was to be ended first that the same must be asked
-- once more; else
--   1 doubles: kind DONE, time, more, in use, limit in effect, override or -1, holders, waiting,
--     1 if it is a lock, limits disagree, order, last fence, granted without waiting, 23 counters
--   2 holders  3 waiters: visitor (16 bytes), then its record as in the hash, each
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

local function records(ids)
  local found = {}
  for _, id in ipairs(ids) do
    local v = find(g, id)
    if v and v.state ~= SPENT then found[#found + 1] = id .. write_visit(v) end
  end
  return found
end

local shown = {}
local used = g.tiers or g.packed_tiers ~= ''
for i, tier in ipairs(used and rates().tiers(g) or NONE) do
  local info = rates().weigh(tier, tier, 0, g.now)
  shown[i] = struct.pack(TIER, tier.algorithm, tier.period, tier.count, tier.burst, tier.time[0],
    tier.time[1], tier.hits[0], tier.hits[1], tier.part, tier.part_of)
    .. struct.pack('<dddd', info.limit, info.remaining, info.retry, info.reset)
end
pauses(g)
local answer = { head, records(insiders(g)), records(redis.call('ZRANGE', KEYS[3], 0, -1)), shown,
  write_pauses(g), struct.pack('<d', g.now) }
save(g)
return answer
