-- admit.lua: the question. May this visitor come in now?
--
-- KEYS[1..5] the gate
-- ARGV[1] seed for lotteries   ARGV[2] visitor   ARGV[3] channel of its process, or empty
-- ARGV[4] request (REQUEST)    ARGV[5] its rates   ARGV[6] label
--
-- Returns GRANTED, QUEUED, REFUSED; OTHER_ORDER or OTHER_KIND: the request is wrong for this line;
-- AGAIN: so much has run out that it is not known yet, and the same must be asked once more.

local g = open(1, ARGV[2])
if g.error then return g.error end
local q = read_request(4, ARGV[2], ARGV[3])

local function granted(v, repeated, taken, rate)
  return reply(g, GRANTED, granted_fields(g, v, repeated, taken, rate))
end

local function refused(reason, retry, rate)
  return reply(g, REFUSED, refused_fields(g, reason, retry, rate))
end

local function claimed(v)
  local fence, slot, taken = v.fence, v.slot, v.requested_rates ~= '' and v.cost or 0
  local rate = standing(g, q.rates, q.cost)
  claim(g, v, q)
  return reply(g, GRANTED, fence, v.weight ~= 0 and v.expiry - g.now or 0, slot, 0, taken, 0,
    rate.limit, rate.remaining, rate.retry, rate.reset)
end

local function waits_or_enters(v, rate)
  advance(g)
  if v.state == HANDED then return claimed(v) end
  return reply(g, QUEUED, queued_fields(g, v, rate or standing(g, q.rates, q.cost)))
end

local function ask_again(v)
  if is_other_order(g, q) then return reply(g, OTHER_ORDER) end
  if #q.rates > 0 then
    local rate = rates().weigh_all(g, q.rates, q.cost, TAKE)
    if rate.never then return refused(NOT_EVER, NEVER, rate) end
  end
  update_waiter(g, v, q)
  renew_patience(g, v, 0)
  return waits_or_enters(v)
end

local function admit_known(v)
  if is_other_kind(v, q) then return reply(g, OTHER_KIND) end
  if v.state == HANDED then return claimed(v) end
  if is_in_line(v) then return ask_again(v) end
  if v.state ~= SPENT then return granted(v, 1, 0, NO_RATES) end
  local rate = standing(g, q.rates, q.cost)
  return reply(g, GRANTED, 0, 0, -1, 1, v.cost, 0, rate.limit, rate.remaining, rate.retry, rate.reset)
end

local function grant_now(rate)
  if rate.taken > 0 then rates().charge_all(g, q.rates, rate) end
  if q.mode ~= PEEK then count_grant(g, 0) end
  local v
  if q.permits == 1 then
    v = new_visit(g, q)
    admit_visit(g, v, HOLDING, g.now + q.ttl, true)
  elseif q.dedupe ~= 0 then
    admit_visit(g, new_visit(g, q), SPENT, g.now + q.dedupe, true)
  end
  return reply(g, GRANTED, v and v.fence or 0, v and q.ttl or 0, v and v.slot or -1, 0, rate.taken,
    rate.delay, rate.limit, rate.remaining, rate.retry, rate.reset)
end

local function admit_new()
  if q.join == RETURNING then return refused(LATE, 0, NO_RATES) end
  if is_other_order(g, q) then return reply(g, g.crowded_outside and AGAIN or OTHER_ORDER) end
  if q.permits == 1 then note_limit(g, q) end
  local rate = NO_RATES
  if #q.rates > 0 then
    rate = rates().weigh_all(g, q.rates, q.cost, q.mode, q.max_delay)
    if rate.never then return refused(NOT_EVER, NEVER, rate) end
  end
  local paused = paused_until(g)
  local clear = q.barging == 1 or is_clear(g)
  local room = q.permits == 0 or fits(g, q.limit, q.exclusive, q.weight)
  if paused == 0 and clear and room and rate.allowed then return grant_now(rate) end
  if (g.crowded_inside and not room) or clear == nil then return reply(g, AGAIN) end
  if rate.allowed then
    rate = standing(g, q.rates, q.mode == AT_MOST and rate.taken or q.cost)
  end
  if q.join == 1 then
    local reason, retry = line_refuses(g, q)
    if reason then return refused(reason, retry, rate) end
    return waits_or_enters(enqueue(g, q, 0), rate)
  end
  if paused ~= 0 then return refused(PAUSED, paused - g.now, rate) end
  if clear and room then return refused(RATE, rate.retry, rate) end
  return refused(FULL, retry_after(g), rate)
end

open_or_make(g)
settle(g)
local answer
if g.inconsistent then
  answer = reply(g, AGAIN)
else
  local v = find(g, q.visitor)
  if v and deadline(v) <= g.now then
    reap_one(g, v)
    v = find(g, q.visitor)
  end
  if v and v.state == SPENT and q.dedupe == 0 then
    -- No retry but a new question. What may leave a record takes the place of the old one.
    if (q.permits == 1 and q.join ~= RETURNING) or q.join == 1 then forget(g, v) end
    v = nil
  end
  answer = v and admit_known(v) or admit_new()
end
save(g)
return answer
