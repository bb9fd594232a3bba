-- rates.lua: the arithmetic of the rates.
--
-- A script defines everything anew in every run, so these are defined when a rate is first met:
-- rates().weigh_all(...).
--
-- Whole microseconds; where a rate does not divide them, the rest is kept as a fraction of `count`.
-- Everything below 2^53, so that doubles are exact. A rate is {algorithm, count, period, burst}.

local GCRA, SLIDING, FIXED, NO_LIMIT = 0, 1, 2, 3
local TAKE, PEEK, AT_MOST, RESERVE = 0, 1, 2, 3
local ONE_RATE, RATE_SIZE = '<BI4dI4', 17
local TIER = '<BdI4I4ddI4I4I4I4'
local UNLIMITED = 4294967295
local YEAR = 31536000000000

local NO_RATES = { allowed = true, never = false, taken = 0, delay = 0, limit = 0, remaining = 0,
  retry = 0, reset = 0 }
local NONE = {}

local made_rates

local function rates()
  if made_rates then return made_rates end

  local function read_rates(packed)
    local rates = {}
    for at = 1, #packed, RATE_SIZE do
      local rate = {}
      rate.algorithm, rate.count, rate.period, rate.burst = struct.unpack(ONE_RATE, packed, at)
      rates[#rates + 1] = rate
    end
    return rates
  end

  local function tiers(g)
    if not g.tiers then
      g.tiers = {}
      local at = 1
      while at <= #g.packed_tiers do
        local tier = { time = {}, hits = {} }
        tier.algorithm, tier.period, tier.count, tier.burst, tier.time[0], tier.time[1],
          tier.hits[0], tier.hits[1], tier.part, tier.part_of, at =
          struct.unpack(TIER, g.packed_tiers, at)
        g.tiers[#g.tiers + 1] = tier
      end
    end
    return g.tiers
  end

  local function write_tiers(g)
    local packed = {}
    for i, tier in ipairs(g.tiers) do
      packed[i] = struct.pack(TIER, tier.algorithm, tier.period, tier.count, tier.burst,
        tier.time[0], tier.time[1], tier.hits[0], tier.hits[1], tier.part, tier.part_of)
    end
    return table.concat(packed)
  end

  local function find_tier(g, rate)
    for _, tier in ipairs(tiers(g)) do
      if tier.period == rate.period and tier.algorithm == rate.algorithm then return tier end
    end
  end

  local function burst_of(rate)
    return rate.algorithm == GCRA and rate.burst ~= 0 and rate.burst or rate.count
  end

  -- GCRA: whole + part / count microseconds, part < count.

  local function divide(units, of)
    local whole = math.floor(units / of)
    return whole, units - whole * of
  end

  local function add(whole, part, more, more_part, of)
    part = part + more_part
    if part >= of then return whole + more + 1, part - of end
    return whole + more, part
  end

  local function round_up(whole, part)
    return part > 0 and whole + 1 or whole
  end

  -- a - b for a >= b.
  local function difference(a_whole, a_part, b_whole, b_part)
    return a_whole - b_whole + (a_part > b_part and 1 or 0)
  end

  -- How far the theoretical arrival time is ahead. A fraction kept for another count rounds up.
  local function lateness(tier, count, now)
    if not tier or tier.time[0] < now then return 0, 0 end
    local whole = tier.time[0] - now
    if tier.part == 0 or tier.part_of == count then return whole, tier.part end
    return whole + 1, 0
  end

  local function is_more(a_whole, a_part, b_whole, b_part)
    return a_whole > b_whole or (a_whole == b_whole and a_part > b_part)
  end

  local function gcra_available(rate, tier, now)
    local full = burst_of(rate) * rate.period
    local whole, part = lateness(tier, rate.count, now)
    if is_more(whole, part, divide(full, rate.count)) then return 0 end
    return math.floor((full - whole * rate.count - part) / rate.period)
  end

  -- What a tier says to a cost; nothing is written. As it would be after taking it, or as it is if
  -- refused. A later whole + part are for charge().
  local function weigh_gcra(rate, tier, cost, now)
    local burst = burst_of(rate)
    local full, price = burst * rate.period, cost * rate.period
    local whole, part = lateness(tier, rate.count, now)
    local slack, slack_part = divide(full - price, rate.count)
    local says = { allowed = not is_more(whole, part, slack, slack_part), delay = 0, limit = burst,
      retry = 0 }
    local price_whole, price_part = divide(price, rate.count)
    says.whole, says.part = add(whole, part, price_whole, price_part, rate.count)
    if says.allowed then
      local room = full - price - (whole * rate.count + part)
      says.remaining = math.floor(room / rate.period)
      says.reset = round_up(says.whole, says.part)
      if room < price then says.retry = difference(says.whole, says.part, slack, slack_part) end
    else
      says.delay = difference(whole, part, slack, slack_part)
      says.retry = says.delay
      says.remaining = gcra_available(rate, tier, now)
      says.reset = round_up(whole, part)
    end
    return says
  end

  local function hits_of(tier, window)
    if not tier then return 0 end
    local which = window % 2
    return tier.time[which] == window and tier.hits[which] or 0
  end

  -- When `hits`, above 0, in the previous window and none in this leave room for `free` more, counted
  -- from the window's start.
  local function room_after(hits, free, period)
    return math.max(0, period - math.floor(free * period / hits))
  end

  local function weigh_sliding(rate, tier, cost, now)
    local period, limit = rate.period, rate.count
    local window = math.floor(now / period)
    local elapsed = now - window * period
    local before, current = hits_of(tier, window - 1), hits_of(tier, window)
    local room = (limit - current) * period - before * (period - elapsed)

    local says = { allowed = cost * period <= room, delay = 0, limit = limit, retry = 0, reset = 0 }
    local after = says.allowed and room - cost * period or room
    says.remaining = math.max(0, math.floor(after / period))
    local hits = current + (says.allowed and cost or 0)
    if hits > 0 then
      says.reset = 2 * period - elapsed
    elseif before > 0 then
      says.reset = period - elapsed
    end
    local free = limit - cost
    if cost * period > after then
      if hits <= free then
        says.retry = room_after(before, free - hits, period) - elapsed
      else
        says.retry = period - elapsed + room_after(hits, free, period)
      end
    end
    return says
  end

  local function is_open(tier, period, now)
    return tier and tier.time[0] >= 0 and now < tier.time[0] + period
  end

  local function weigh_fixed(rate, tier, cost, now)
    local open = is_open(tier, rate.period, now)
    local room = math.max(0, rate.count - (open and tier.hits[0] or 0))
    local rest = open and tier.time[0] + rate.period - now or 0

    local says = { allowed = cost <= room, delay = 0, limit = rate.count, retry = 0, reset = rest }
    says.remaining = says.allowed and room - cost or room
    if not open and cost > 0 then says.reset = rate.period end
    if cost > says.remaining then says.retry = open and rest or rate.period end
    return says
  end

  -- When the tier is as if never used; 0 if it is.
  local function reset_after(tier, now)
    if tier.algorithm == GCRA then return round_up(lateness(tier, tier.part_of, now)) end
    if tier.algorithm == SLIDING then
      local window = math.floor(now / tier.period)
      local elapsed = now - window * tier.period
      if hits_of(tier, window) > 0 then return 2 * tier.period - elapsed end
      return hits_of(tier, window - 1) > 0 and tier.period - elapsed or 0
    end
    return is_open(tier, tier.period, now) and tier.time[0] + tier.period - now or 0
  end

  -- How much would be allowed now.
  local function available(rate, tier, now)
    if rate.algorithm == NO_LIMIT then return UNLIMITED end
    if rate.algorithm == GCRA then return gcra_available(rate, tier, now) end
    if rate.algorithm == SLIDING then return weigh_sliding(rate, tier, 0, now).remaining end
    return weigh_fixed(rate, tier, 0, now).remaining
  end

  local function weigh(rate, tier, cost, now)
    if rate.algorithm == NO_LIMIT then
      return { allowed = true, delay = 0, limit = UNLIMITED, remaining = UNLIMITED, retry = 0,
        reset = 0 }
    end
    if cost > burst_of(rate) then
      return { allowed = false, delay = NEVER, limit = burst_of(rate), retry = NEVER,
        remaining = available(rate, tier, now), reset = tier and reset_after(tier, now) or 0 }
    end
    if rate.algorithm == GCRA then return weigh_gcra(rate, tier, cost, now) end
    if rate.algorithm == SLIDING then return weigh_sliding(rate, tier, cost, now) end
    return weigh_fixed(rate, tier, cost, now)
  end

  -- How a GCRA tier stands once the cost is taken although it is too early for it.
  local function after_reserving(rate, says, cost)
    local slack, slack_part = divide((burst_of(rate) - cost) * rate.period, rate.count)
    says.remaining = 0
    says.retry = difference(says.whole, says.part, slack, slack_part)
    says.reset = round_up(says.whole, says.part)
  end

  -- What all tiers together say. The tightest speaks: of those that refuse, the one that takes
  -- longest; else the one with the least left.
  local function weigh_all(g, rates, cost, mode, max_delay)
    local all = { allowed = true, never = false, taken = cost, delay = 0, says = {},
      limit = 0, remaining = 0, retry = 0, reset = 0 }
    if mode == AT_MOST then
      for _, rate in ipairs(rates) do
        all.taken = math.min(all.taken, available(rate, find_tier(g, rate), g.now))
      end
      cost = math.max(all.taken, 1)
    end
    for i, rate in ipairs(rates) do
      local tier = find_tier(g, rate)
      local says = weigh(rate, tier, cost, g.now)
      if mode == PEEK and says.allowed then
        says = weigh(rate, tier, 0, g.now)
      elseif mode == RESERVE and not says.allowed and says.delay <= math.min(max_delay, YEAR) then
        says.allowed = true
        after_reserving(rate, says, cost)
      end
      local tighter
      if says.allowed ~= all.allowed then
        tighter = not says.allowed
      elseif says.allowed then
        tighter = says.remaining < all.remaining
      else
        tighter = says.retry > all.retry
      end
      if i == 1 or tighter then
        all.limit, all.remaining, all.retry, all.reset =
          says.limit, says.remaining, says.retry, says.reset
      end
      all.says[i] = { tier = tier, whole = says.whole, part = says.part }
      all.allowed = all.allowed and says.allowed
      all.never = all.never or says.delay == NEVER
      all.delay = math.max(all.delay, says.delay)
    end
    if not all.allowed or mode == PEEK then all.taken = 0 end
    return all
  end

  -- How the tiers stand to a cost that is not taken.
  local function standing(g, rates, cost)
    return weigh_all(g, rates, cost, PEEK)
  end

  local function hit(tier, which, window, is_same, cost)
    if is_same then
      tier.hits[which] = tier.hits[which] + cost
    else
      tier.time[which], tier.hits[which] = window, cost
    end
  end

  local function charge(rate, tier, cost, says, now)
    tier.count, tier.burst = rate.count, rate.burst
    if rate.algorithm == GCRA then
      tier.time[0], tier.part, tier.part_of = now + says.whole, says.part, rate.count
    elseif rate.algorithm == SLIDING then
      local window = math.floor(now / rate.period)
      hit(tier, window % 2, window, tier.time[window % 2] == window, cost)
    else
      hit(tier, 0, now, is_open(tier, rate.period, now), cost)
    end
  end

  local function drop_idle_tiers(g)
    local busy = {}
    for _, tier in ipairs(tiers(g)) do
      if reset_after(tier, g.now) > 0 then busy[#busy + 1] = tier end
    end
    g.tiers = busy
    g.write_tiers = write_tiers
  end

  -- Takes what was weighed.
  local function charge_all(g, rates, verdict)
    local added = false
    for i, rate in ipairs(rates) do
      if rate.algorithm ~= NO_LIMIT then
        local says = verdict.says[i]
        local tier = says.tier
        if not tier then
          tier = { algorithm = rate.algorithm, period = rate.period, time = { [0] = -1, -1 },
            hits = { [0] = 0, 0 }, part = 0, part_of = rate.count }
          table.insert(tiers(g), 1, tier)
          added = true
        end
        charge(rate, tier, verdict.taken, says, g.now)
        keep_until(g, g.now + reset_after(tier, g.now))
        g.write_tiers = write_tiers
      end
    end
    if added then drop_idle_tiers(g) end
  end

  local function give_back_one(tier, cost, now)
    if tier.algorithm == GCRA then
      local whole, part = lateness(tier, tier.count, now)
      local price, price_part = divide(cost * tier.period, tier.count)
      whole, part = whole - price, part - price_part
      if part < 0 then whole, part = whole - 1, part + tier.count end
      if whole < 0 then whole, part = 0, 0 end
      tier.time[0], tier.part, tier.part_of = now + whole, part, tier.count
      return
    end
    if tier.algorithm == SLIDING then
      local window = math.floor(now / tier.period)
      for from = window, window - 1, -1 do
        local taken = math.min(cost, hits_of(tier, from))
        if taken > 0 then tier.hits[from % 2] = tier.hits[from % 2] - taken end
        cost = cost - taken
      end
    elseif is_open(tier, tier.period, now) then
      tier.hits[0] = math.max(0, tier.hits[0] - cost)
    end
  end

  -- Gives a cost back, as far as the tiers remember it.
  local function give_back_all(g, rates, cost)
    for _, rate in ipairs(rates) do
      local tier = find_tier(g, rate)
      if tier then
        give_back_one(tier, cost, g.now)
        g.write_tiers = write_tiers
      end
    end
  end

  made_rates = {
    read = read_rates, tiers = tiers, write = write_tiers, weigh = weigh, weigh_all = weigh_all,
    standing = standing, charge_all = charge_all, give_back_all = give_back_all,
    drop_idle_tiers = drop_idle_tiers,
  }
  return made_rates
end

local function read_rates(packed) return packed == '' and NONE or rates().read(packed) end

-- How the tiers stand to a cost that is not taken.
local function standing(g, its_rates, cost)
  return #its_rates == 0 and NO_RATES or rates().standing(g, its_rates, cost)
end

local function give_back_all(g, its_rates, cost)
  if #its_rates > 0 then rates().give_back_all(g, its_rates, cost) end
end
