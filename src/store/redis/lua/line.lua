-- line.lua: who is inside, who waits, and how a gate is brought up to the present.

local MODULUS = 2147483647
local draw = tonumber(string.match(ARGV[1], '^%d+'))

-- Random numbers that every store draws alike.
local function below(n)
  draw = draw * 48271 % MODULUS
  return draw % n
end

local function is_in_line(v) return v.state == WAITING or v.state == ABSENT end
local function is_inside(v) return v.state == HANDED or v.state == HOLDING end

local function deadline(v)
  if not is_in_line(v) then return v.expiry end
  return v.called_until ~= 0 and v.called_until or v.patience_end
end

-- Sets.

local function note_made(g, part)
  g.made = g.made or {}
  g.made[part] = true
end

local function put(g, part, score, member, was_empty)
  change(g, 'ZADD', KEYS[g.at + part], score, member)
  if was_empty then note_made(g, part) end
end

-- Takes a visit out of its set of deadlines, unless due() has.
local function strike_out(g, part, v)
  if not v.struck_out then change(g, 'ZREM', KEYS[g.at + part], v.id) end
  v.struck_out = nil
end

-- One of those inside ends when the gate says so, and is not in the set: a gate for one needs none. It
-- is whoever came when there was no such one; NEVER: there is none.
local function is_lone(g, v) return g.lone == v.id and g.lone_end ~= NEVER end

-- The ids of all inside, or remembered.
local function insiders(g)
  local ids = redis.call('ZRANGE', KEYS[g.at + 1], 0, -1)
  if g.lone_end ~= NEVER then ids[#ids + 1] = g.lone end
  return ids
end

local function set_deadline(g, v)
  local moment = deadline(v)
  if is_in_line(v) then
    put(g, 2, moment, v.id, g.waiters == 0)
  elseif is_lone(g, v) then
    g.lone_end = moment
  else
    put(g, 1, moment, v.id, in_set(g) == 0)
  end
  if moment < g.next_due then g.next_due = moment end
  keep_until(g, moment)
  g.changed[v.id] = true
end

-- What give_slot_back has collected, in one write.
local function write_free_slots(g)
  if g.given_back then change(g, 'ZADD', KEYS[g.at + 4], unpack(g.given_back)) end
  g.given_back = nil
end

local function take_slot(g)
  if g.freed == 0 then
    g.slots = g.slots + 1
    return g.slots - 1
  end
  write_free_slots(g)
  g.freed = g.freed - 1
  return tonumber(change(g, 'ZPOPMIN', KEYS[g.at + 4])[1])
end

local function give_slot_back(g, slot)
  if slot == g.slots - 1 then
    g.slots = slot
  else
    if g.freed == 0 then note_made(g, 4) end
    g.given_back, g.write_free_slots = g.given_back or {}, write_free_slots
    g.given_back[#g.given_back + 1] = slot
    g.given_back[#g.given_back + 1] = slot
    g.freed = g.freed + 1
  end
  if g.freed == g.slots and g.freed > 0 then
    change(g, 'UNLINK', KEYS[g.at + 4])
    g.freed, g.slots, g.given_back = 0, 0, nil
  end
end

local function give_slot(g, v)
  v.slot = v.weight == 1 and take_slot(g) or -1
end

local function raise_line_limit(g, v)
  local limit = v.weight ~= 0 and v.limit or NEVER
  g.line_limit = math.max(g.waiters == 0 and 0 or g.line_limit, limit)
end

-- Puts a visit where its state says it belongs. It is counted among g.visits by whom made it.
local function attach(g, v)
  if not is_in_line(v) and g.lone_end == NEVER then g.lone, g.lone_end = v.id, v.expiry end
  set_deadline(g, v)
  if is_in_line(v) then
    raise_line_limit(g, v)
    g.waiters = g.waiters + 1
    if v.state == WAITING then
      put(g, 3, v.place, v.id, g.present == 0)
      g.present = g.present + 1
    end
  elseif is_inside(v) then
    g.in_use = g.in_use + v.weight
    g.holders = g.holders + 1
  end
  g.visits = g.visits + 1
end

local function detach(g, v)
  g.visits = g.visits - 1
  g.changed[v.id] = true
  if is_in_line(v) then
    strike_out(g, 2, v)
    g.waiters = g.waiters - 1
    if v.state == WAITING then
      change(g, 'ZREM', KEYS[g.at + 3], v.id)
      g.present = g.present - 1
    end
    if g.has_drawn == 1 and g.drawn == v.id then g.has_drawn = 0 end
    return
  end
  if is_lone(g, v) then
    g.lone, g.lone_end = NOBODY, NEVER
  else
    strike_out(g, 1, v)
  end
  if not is_inside(v) then return end
  g.in_use = g.in_use - v.weight
  g.holders = g.holders - 1
  if v.slot >= 0 then give_slot_back(g, v.slot) end
end

-- Says to the visitor's process that there is news, unless it is the one who asks; to how many that
-- was.
local function tell(g, v)
  if v.channel == '' or v.id == g.requester then return nil end
  return publish(v.channel, v.id .. g.hash)
end

local function forget(g, v)
  detach(g, v)
  g.visits_read[v.id] = false
end

local function remove(g, v)
  tell(g, v)
  forget(g, v)
end

local function rates_taken(v)
  return v.state == HANDED and read_rates(v.requested_rates) or NONE
end

-- What an unclaimed hand-over took is given back.
local function forget_with_refund(g, v)
  local taken = rates_taken(v)
  forget(g, v)
  give_back_all(g, taken, v.cost)
end

local function move(g, v, state)
  detach(g, v)
  v.called_until = 0
  v.state = state
  attach(g, v)
end

-- Gives a new visit, or one that waited, what an admission has.
local function admit_visit(g, v, state, expiry, is_new)
  if not is_new then detach(g, v) end
  give_slot(g, v)
  v.expiry, v.revoked, v.granted, v.called_until = expiry, 0, g.now, 0
  if v.weight ~= 0 then
    g.fence = math.max(g.fence + 1, WALL)
    v.fence = g.fence
  end
  v.state = state
  attach(g, v)
end

-- Law 1. A weight above an operator's limit runs alone; rates only need no room.
local function fits(g, limit, exclusive, weight)
  if weight == 0 then return true end
  local effective = limit
  if g.override >= 0 then
    effective = exclusive == 1 and math.min(g.override, limit) or g.override
  end
  if g.in_use + weight <= effective then return true end
  return g.override >= 0 and effective >= 1 and weight > effective and g.in_use == 0
end

local function visit_fits(g, v) return fits(g, v.limit, v.exclusive, v.weight) end

-- Whether nobody of the line can fit, whoever's turn it is.
local function is_full(g)
  if g.in_use == 0 or g.line_limit == NEVER then return false end
  return g.in_use >= (g.override >= 0 and g.override or g.line_limit)
end

-- Who cannot be reached or does not come when called keeps the place as long as its patience lasts.
local function pass_over(g, v)
  if v.patience_end <= g.now then
    bump(g, ABANDONED)
    return remove(g, v)
  end
  if g.waiters == 0 then
    g.order, g.aging_base, g.aging_per_second, g.aging_max =
      v.order, v.aging_base, v.aging_per_second, v.aging_max
  end
  v.order, v.aging_base, v.aging_per_second, v.aging_max =
    g.order, g.aging_base, g.aging_per_second, g.aging_max
  move(g, v, ABSENT)
end

-- A hand-over that nobody claims: what it took is given back.
local function miss_turn(g, v)
  local taken = rates_taken(v)
  bump(g, MISSED)
  pass_over(g, v)
  give_back_all(g, taken, v.cost)
end

-- An unclaimed hand-over goes back to its place; everything else ends.
local function reap_inside(g, v)
  if v.state == HANDED then return miss_turn(g, v) end
  if v.state == HOLDING then bump(g, v.revoked ~= 0 and REVOKED or EXPIRED) end
  remove(g, v)
end

-- A set has somebody whose record is gone or says something else.
local function mark_inconsistent(g)
  g.inconsistent, g.more = true, SOON
end

-- Takes out of a set of deadlines those that have come, as far as the `endings` go, the earliest first.
local function due_in_set(g, part)
  local key = KEYS[g.at + part]
  local ids = redis.call('ZRANGEBYSCORE', key, '-inf', g.now, 'LIMIT', 0, endings)
  if #ids == 0 then return {} end
  endings = endings - #ids
  change(g, 'ZREM', key, unpack(ids))
  note_made(g, part) -- Perhaps it is empty now and will be made again.
  local packed = redis.call('HMGET', g.hash, unpack(ids))
  local visits = {}
  for i, id in ipairs(ids) do
    local v = g.visits_read[id]
    if v == nil and packed[i] then v = read_or_mark(g, id, packed[i]) end
    if v and deadline(v) <= g.now then
      g.visits_read[id] = v
      v.struck_out = true
      visits[#visits + 1] = v
    else
      mark_inconsistent(g)
    end
  end
  return visits
end

local function first_score(g, part)
  local first = redis.call('ZRANGE', KEYS[g.at + part], '0', '0', 'WITHSCORES')
  return first[2] and tonumber(first[2]) or NEVER
end

-- All inside whose time has come, as far as the `endings` go.
local function due_inside(g)
  local visits = due_in_set(g, 1)
  if g.lone_end > g.now or endings <= 0 then return visits end
  local v = find(g, g.lone)
  if v then
    endings = endings - 1
    visits[#visits + 1] = v
  else
    g.lone, g.lone_end = NOBODY, NEVER
    mark_inconsistent(g)
  end
  return visits
end

local function sort_by_end(visits)
  for i = 2, #visits do
    if visits[i].expiry <= visits[i - 1].expiry then
      return table.sort(visits, function(a, b)
        if a.expiry ~= b.expiry then return a.expiry < b.expiry end
        return a.fence < b.fence
      end)
    end
  end
end

-- Ends what has run out, as far as the `endings` go. g.crowded_inside, g.crowded_outside: there is more of
-- it, so that in_use, or waiters and present, count some who are not here any more.
local function reap(g)
  local ended = due_inside(g)
  sort_by_end(ended)
  for _, v in ipairs(ended) do reap_inside(g, v) end
  if endings > 0 then
    for _, v in ipairs(due_in_set(g, 2)) do pass_over(g, v) end
  end
  local inside, outside = math.min(g.lone_end, first_score(g, 1)), first_score(g, 2)
  g.next_due = math.min(inside, outside)
  g.crowded_inside, g.crowded_outside = inside <= g.now, outside <= g.now
  if g.next_due <= g.now then
    g.more = (g.inconsistent or (g.crowded_inside and g.waiters ~= 0)) and SOON or LATER
  end
end

-- One visit whose time has come, before it is its turn to be ended.
local function reap_one(g, v)
  if is_in_line(v) then pass_over(g, v) else reap_inside(g, v) end
end

local function nth(g, n)
  local id = redis.call('ZRANGE', KEYS[g.at + 3], n, n)[1]
  return id and find(g, id) or mark_inconsistent(g)
end

-- Draws from a lottery: whom, and whether there is anything to draw for.
local function draw_one(g)
  local function tickets(v)
    local grown = g.aging_base
      + math.floor(math.floor((g.now - v.joined) / 1000) * g.aging_per_second / 1000)
    return math.min(grown, g.aging_max)
  end

  -- Chance in proportion to tickets: draw anybody, keep with probability tickets / most tickets. The
  -- oldest has the most.
  local function drawn()
    if g.order == LOTTERY then return nth(g, below(g.present)) end
    local first = nth(g, 0)
    local most = first and tickets(first)
    local oldest
    for _ = 1, 64 do
      local v = most and nth(g, below(g.present))
      if not v then return nil end
      if below(most) < tickets(v) then return v end
      if not oldest or v.place < oldest.place then oldest = v end
    end
    return oldest
  end

  -- Whether there is what this waiter asks, or a part of it.
  local function may_win(v)
    if not visit_fits(g, v) then return fits(g, v.limit, v.exclusive, 1) end
    if v.requested_rates == '' then return true end
    local verdict = rates().weigh_all(g, read_rates(v.requested_rates), v.cost, TAKE)
    return verdict.allowed or verdict.remaining > 0
  end

  local before = draw
  local v = drawn()
  if not v then return nil end
  if may_win(v) then
    g.has_drawn, g.drawn = 1, v.id
  else
    draw = before -- How often somebody looks does not change who wins.
  end
  return v
end

local FEW = 16

local function after_now(g) return '(' .. string.format('%.0f', g.now) end

-- Of those in the line whose time has not come the first who is present, or nil; and whether that is known,
-- because they are few.
local function first_alive(g)
  local ids = redis.call('ZRANGEBYSCORE', KEYS[g.at + 2], after_now(g), '+inf', 'LIMIT', 0, FEW)
  local first
  for _, id in ipairs(ids) do
    local v = find(g, id)
    if not v then return mark_inconsistent(g), false end
    if v.state == WAITING and (not first or v.place < first.place) then first = v end
  end
  return first, #ids < FEW
end

-- Whose turn it is; nil if it is nobody's, or the gate's parts do not agree. REQUIRES: somebody is present.
local function candidate(g)
  if g.crowded_outside and (g.order == FIFO or g.order == PRIORITY) then
    local first, is_known = first_alive(g)
    if is_known then return first end
  end
  if g.order == FIFO or g.order == PRIORITY then return nth(g, 0) end
  -- A lottery keeps to its draw until that visitor is in or away.
  if g.has_drawn == 1 then return find(g, g.drawn) or mark_inconsistent(g) end
  return draw_one(g)
end

-- The line moves.

-- A waiter whose process listened when it asked and does not now is absent.
local function is_gone(v, heard) return heard == 0 and v.confirmed == 1 end

-- Tells a waiter for several gates that it is its turn here; nobody passes it until its window ends.
local function call(g, v)
  if v.called_until ~= 0 then return false end
  if is_gone(v, tell(g, v)) then
    pass_over(g, v)
    return true
  end
  v.called_until = g.now + v.claim_window
  v.patience_end = math.max(v.patience_end, v.called_until)
  set_deadline(g, v)
  return false
end

-- Hands over, or passes over one who cannot be told. False: nobody behind it comes in either.
local function hand_over(g, v)
  if not visit_fits(g, v) then return false end
  local requested_rates, verdict = read_rates(v.requested_rates), NO_RATES
  if #requested_rates > 0 then verdict = rates().weigh_all(g, requested_rates, v.cost, TAKE) end
  if not verdict.allowed then
    g.rate_due = g.now + verdict.retry
    g.next_due = math.min(g.next_due, g.rate_due)
    return false
  end
  if v.several == 1 then return call(g, v) end
  if is_gone(v, tell(g, v)) then
    pass_over(g, v)
    return true
  end
  if #requested_rates > 0 then rates().charge_all(g, requested_rates, verdict) end
  local interval = g.now - g.last_grant
  g.interval = g.interval == 0 and interval or math.floor((g.interval * 7 + interval + 4) / 8)
  g.last_grant = g.now
  admit_visit(g, v, HANDED, g.now + v.claim_window)
  return true
end

-- The grant loop: as many from the line as fit, in order, until one does not.
local function advance(g)
  g.rate_due = 0
  if g.waiters == 0 then return end
  local paused = paused_until(g)
  if paused ~= 0 then
    g.next_due = math.min(g.next_due, paused)
    return
  end
  local any = false
  while g.present ~= 0 and not is_full(g) do
    if grants <= 0 then
      g.more = any and SOON or g.more or LATER
      return
    end
    grants = grants - 1
    local v = candidate(g)
    if v and deadline(v) <= g.now then
      reap_one(g, v)
    elseif not v or not hand_over(g, v) then
      return
    else
      any = true
    end
  end
end

-- Brings a gate up to the present: what ran out has ended, whom that lets in is in. g.more: not all
-- of it yet.
local function settle(g)
  if g.now >= g.next_due then reap(g) end
  if g.waiters ~= 0 and not g.inconsistent then advance(g) end
end

-- Whether a newcomer overtakes nobody; nil if that is not known yet.
local function is_clear(g)
  if g.present == 0 then return true end
  if not g.crowded_outside then return false end
  local first, is_known = first_alive(g)
  if is_known or first then return not first end
end

-- 1-based, in the order of the line; those who are absent do not count.
local function position(g, v)
  local rank = redis.call('ZRANK', KEYS[g.at + 3], v.id)
  if not rank then mark_inconsistent(g) end
  return (rank or 0) + 1
end

-- The position that a newcomer would have.
local function next_position(g, priority)
  if g.order ~= PRIORITY then return g.present + 1 end
  return redis.call('ZCOUNT', KEYS[g.at + 3], '-inf', (4096 - priority) * PLACES) + 1
end

-- When something may change at the gate by time alone.
local function next_event(g)
  local event = g.lone_end
  if in_set(g) > 0 then event = math.min(event, first_score(g, 1)) end
  if g.waiters > 0 then event = math.min(event, first_score(g, 2)) end
  if g.waiters > 0 and g.rate_due ~= 0 then event = math.min(event, g.rate_due) end
  local paused = paused_until(g)
  if paused ~= 0 then event = math.min(event, paused) end
  return event
end
