-- asks.lua: what admit.lua and admit_all.lua share.

-- The request in ARGV[at], its rates in ARGV[at + 1], its label in ARGV[at + 2].
local function read_request(at, visitor, channel)
  local q = { visitor = visitor, channel = channel, requested_rates = ARGV[at + 1], label = ARGV[at + 2] }
  REQUEST_FIELDS_OF_q = struct.unpack(REQUEST, ARGV[at])
  q.rates = read_rates(q.requested_rates)
  return q
end

-- The order belongs to a line that is not empty.
local function is_other_order(g, q)
  if q.join ~= 1 or g.waiters == 0 then return false end
  if q.order ~= g.order then return true end
  return g.order == AGING and (q.aging_base ~= g.aging_base
    or q.aging_per_second ~= g.aging_per_second or q.aging_max ~= g.aging_max)
end

-- Who waits for permits, or was handed some, cannot go on by rate alone, nor the other way round.
local function is_other_kind(v, q)
  local waits = v and (is_in_line(v) or v.state == HANDED)
  return waits and (q.permits == 1) ~= (v.weight ~= 0)
end

local function note_limit(g, q)
  if g.visits == 0 then g.disagree = 0 end
  if g.limit ~= q.limit then
    if g.limit ~= 0 and g.visits ~= 0 then g.disagree = 1 end
    g.limit = q.limit
  end
  g.exclusive = q.exclusive
end

-- A record that is filled in but not yet real.
local function new_visit(g, q)
  local v = {
    id = q.visitor, state = 0, hold = q.hold, exclusive = q.exclusive, several = 0,
    confirmed = q.confirmed, order = FIFO, priority = 0, weight = q.weight, limit = q.limit,
    slot = -1, fence = 0, expiry = 0, joined = g.now, granted = 0, ttl = q.ttl, revoked = 0,
    patience_end = 0, called_until = 0, place = 0, claim_window = 0, patience = 0, dedupe = 0,
    cost = q.cost, aging_base = 0, aging_per_second = 0, aging_max = 0, channel = '',
    label = q.label, requested_rates = '',
  }
  g.visits_read[v.id] = v
  return v
end

-- A new waiter at the end of the line.
local function enqueue(g, q, several)
  if g.waiters == 0 then
    g.order, g.aging_base, g.aging_per_second, g.aging_max =
      q.order, q.aging_base, q.aging_per_second, q.aging_max
    g.last_grant = g.now
  end
  local v = new_visit(g, q)
  g.arrivals = g.arrivals + 1
  v.several, v.channel, v.claim_window, v.patience, v.dedupe =
    several, q.channel, q.claim_window, q.patience, q.dedupe
  v.order, v.aging_base, v.aging_per_second, v.aging_max =
    g.order, g.aging_base, g.aging_per_second, g.aging_max
  v.priority = g.order == PRIORITY and q.priority or 0
  v.place = (4095 - v.priority) * PLACES + g.arrivals
  v.patience_end = g.now + v.patience
  v.requested_rates = q.requested_rates
  v.state = WAITING
  attach(g, v)
  return v
end

-- What a waiter that asks again may change: its limit and its rates, not its weight or priority.
local function update_waiter(g, v, q)
  if q.permits == 1 then
    v.limit = math.max(q.limit, v.weight)
    raise_line_limit(g, v)
    note_limit(g, q)
  end
  v.requested_rates, v.cost, v.hold = q.requested_rates, q.cost, q.hold
  v.channel, v.confirmed = q.channel, q.confirmed
  if q.join == 1 then v.patience = q.patience end
  g.changed[v.id] = true
end

-- Present, for as long as its patience lasts from now. Who was drawn stays drawn.
local function renew_patience(g, v, several)
  v.several, v.called_until, v.patience_end = several, 0, g.now + v.patience
  if v.state == ABSENT then
    put(g, 3, v.place, v.id, g.present == 0)
    g.present = g.present + 1
    v.state = WAITING
  end
  set_deadline(g, v)
end

-- A hand-over becomes an admission. Its record, unless nothing of it is left.
local function claim(g, v, q)
  count_grant(g, g.now - v.joined)
  if v.weight == 0 then
    if v.dedupe == 0 then return forget(g, v) end
    move(g, v, SPENT)
    v.expiry = g.now + v.dedupe
    set_deadline(g, v)
    return
  end
  v.hold, v.granted, v.state, v.requested_rates = q.hold, g.now, HOLDING, ''
  v.channel, v.confirmed = q.channel, q.confirmed
  v.expiry = g.now + v.ttl
  if v.revoked ~= 0 then v.expiry = math.min(v.expiry, v.revoked) end
  set_deadline(g, v)
end

-- How many are in the line whose time has not come.
local function alive(g)
  if not g.crowded_outside then return g.waiters end
  return redis.call('ZCOUNT', KEYS[g.at + 2], after_now(g), '+inf')
end

-- Why nobody more may wait here: a reason and when to ask again.
local function line_refuses(g, q)
  if q.max_waiting ~= 0 and alive(g) >= q.max_waiting then return LINE_FULL, retry_after(g) end
  if q.max_eta == NEVER then return nil end
  local expected = g.interval * next_position(g, q.priority)
  if expected > q.max_eta then return LATE, expected - q.max_eta end
end
