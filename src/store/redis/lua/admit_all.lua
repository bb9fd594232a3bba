-- admit_all.lua: the question to several gates of one group: all or nothing.
--
-- KEYS[5 i + 1 .. 5 i + 5] gate i, from 0
-- ARGV[1] seed   ARGV[2] visitor   ARGV[3] channel of its process, or empty
-- ARGV[3 i + 4] request of gate i   ARGV[3 i + 5] its rates   ARGV[3 i + 6] label
--
-- Returns GRANTED and the fields of each gate in turn; QUEUED or REFUSED, which gate that was, and
-- the fields; OTHER_ORDER, OTHER_KIND and which gate; AGAIN.

local parts = {}
for i = 0, #KEYS / 5 - 1 do
  local g = open(5 * i + 1, ARGV[2])
  if g.error then return g.error end
  parts[i + 1] = { g = g, q = read_request(3 * i + 4, ARGV[2], ARGV[3]) }
end

local function save_all()
  for _, part in ipairs(parts) do
    if part.g.known then save(part.g) end
  end
end

local function any_more()
  for _, part in ipairs(parts) do
    if part.g.more then return part.g.more end
  end
end

local function finish(kind, ...)
  local answer = reply({ more = any_more() }, kind, ...)
  save_all()
  return answer
end

-- Before any of the gates is made: another order or kind at one of them changes nothing.
for i, part in ipairs(parts) do
  if part.g.known then
    settle(part.g)
    if not part.g.more then
      if is_other_order(part.g, part.q) then return finish(OTHER_ORDER, i - 1) end
      if is_other_kind(find(part.g, ARGV[2]), part.q) then return finish(OTHER_KIND, i - 1) end
    end
  end
end
if any_more() then return finish(AGAIN) end

local function is_never(part)
  local q = part.q
  return #q.rates > 0 and rates().weigh_all(part.g, q.rates, q.cost, TAKE).never
end

for _, part in ipairs(parts) do
  local g, q = part.g, part.q
  open_or_make(g)
  part.v = find(g, ARGV[2])
  if part.v and part.v.state == SPENT then
    forget(g, part.v)
    part.v = nil
  end
end
for _, part in ipairs(parts) do
  local g, q, v = part.g, part.q, part.v
  local inside = v and is_inside(v)
  part.repeated = inside and v.state == HOLDING
  if q.permits == 1 and not inside then note_limit(g, q) end
  if v and not inside and not is_never(part) then update_waiter(g, v, q) end
end

-- What keeps this visitor out of this gate now; nil if it is in or could be.
local function why_not(part)
  local g, q, v = part.g, part.q, part.v
  part.rate = NO_RATES
  if v and is_inside(v) then return nil end
  if v and v.state == ABSENT then move(g, v, WAITING) end
  if #q.rates > 0 then part.rate = rates().weigh_all(g, q.rates, q.cost, TAKE) end
  if part.rate.never then return NOT_EVER end
  if paused_until(g) ~= 0 then return PAUSED end
  local clear = g.present == 0 or q.barging == 1 or (v and candidate(g) == v)
  if not clear then return FULL end
  local room = v and visit_fits(g, v) or not v and
    (q.permits == 0 or fits(g, q.limit, q.exclusive, q.weight))
  if not room then return FULL end
  return not part.rate.allowed and RATE or nil
end

local function retry_of(part, reason)
  if reason == PAUSED then return paused_until(part.g) - part.g.now end
  if reason == FULL then return retry_after(part.g) end
  return part.rate.retry
end

-- Waits in the first line that refuses, and in no other; without `join`, in the line where it is.
local function stop_at(at, reason)
  local waits
  for i, part in ipairs(parts) do
    if not waits and part.v and is_in_line(part.v) then waits = i end
  end
  local joins = parts[at].q.join == 1
  local refuses = reason == NOT_EVER or (not joins and not waits)
  if not refuses and not joins then at = waits end
  local part = parts[at]
  local g, q = part.g, part.q
  local rate = standing(g, q.rates, q.cost)
  if refuses then
    return finish(REFUSED, at - 1, refused_fields(g, reason, retry_of(part, reason), rate))
  end
  if part.v then
    renew_patience(g, part.v, 1)
  else
    local no, retry = line_refuses(g, q)
    if no then return finish(REFUSED, at - 1, refused_fields(g, no, retry, rate)) end
    part.v = enqueue(g, q, 1)
  end
  advance(g)
  local fields = { queued_fields(g, part.v, rate) }
  for _, other in ipairs(parts) do
    if other ~= part and other.v and is_in_line(other.v) then
      forget(other.g, other.v)
      settle(other.g)
    end
  end
  return finish(QUEUED, at - 1, unpack(fields))
end

for i, part in ipairs(parts) do
  local reason = why_not(part)
  if reason then return stop_at(i, reason) end
end

-- Takes what one gate asks.
local function grant(part)
  local g, q, v = part.g, part.q, part.v
  part.taken = part.rate.taken
  if v and v.state == HANDED then
    part.taken = v.requested_rates ~= '' and v.cost or 0
    part.rate = standing(g, q.rates, q.cost)
    claim(g, v, q)
    if v.weight == 0 then part.v = nil end
    return
  end
  if v and is_inside(v) then return end
  if part.taken > 0 then rates().charge_all(g, q.rates, part.rate) end
  count_grant(g, v and g.now - v.joined or 0)
  if q.permits == 0 then
    if v then forget(g, v) end
    part.v = nil
    return
  end
  part.v = v or new_visit(g, q)
  admit_visit(g, part.v, HOLDING, g.now + q.ttl, not v)
  part.v.requested_rates, part.v.channel, part.v.confirmed = '', q.channel, q.confirmed
end

local values = {}
for _, part in ipairs(parts) do grant(part) end
for _, part in ipairs(parts) do
  local taken = part.repeated and 0 or part.taken
  local fields = { granted_fields(part.g, part.v, part.repeated and 1 or 0, taken, part.rate) }
  for _, field in ipairs(fields) do values[#values + 1] = field end
end
return finish(GRANTED, unpack(values))
