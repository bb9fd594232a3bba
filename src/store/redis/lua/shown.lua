-- shown.lua: what the steps that look share.

-- The rates of a gate: each tier as in the hash, and four doubles: limit, remaining, retry, reset; and
-- whether one of them has not recovered.
local function shown_tiers(g)
  local shown, is_busy = {}, false
  if not g.tiers and g.packed_tiers == '' then return shown, is_busy end
  for i, tier in ipairs(rates().tiers(g)) do
    local info = rates().weigh(tier, tier, 0, g.now)
    shown[i] = struct.pack(TIER, tier.algorithm, tier.period, tier.count, tier.burst, tier.time[0],
      tier.time[1], tier.hits[0], tier.hits[1], tier.part, tier.part_of)
      .. struct.pack('<dddd', info.limit, info.remaining, info.retry, info.reset)
    is_busy = is_busy or info.reset > 0
  end
  return shown, is_busy
end
