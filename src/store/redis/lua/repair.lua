-- repair.lua: makes the sets and counts of a gate again from its records, a portion in each call. Until
-- it is complete every other step only goes on with it: the script returns AGAIN.
--
-- `s` says how far it is: `v` and the cursor of HSCAN while the visits are gone over, `f` and a number while
-- the free slots are; anything else: begin. It is empty while a portion is written, so that one
-- that does not end is not gone on with.
--
-- All of it is defined when it is needed.

repair = function(g, state)
  local PORTION, SLOTS = 10, 100

  local function begin_repair(g)
    redis.call('UNLINK', KEYS[g.at + 1], KEYS[g.at + 2], KEYS[g.at + 3], KEYS[g.at + 4])
    g.in_use, g.holders, g.visits, g.waiters, g.present = 0, 0, 0, 0, 0
    g.line_limit, g.slots, g.freed, g.kept = 0, 0, 0, 0
    g.lone, g.lone_end, g.next_due = NOBODY, NEVER, 0
  end

  -- For now `free` has the slots that somebody has.
  local function repair_inside(g, v)
    if redis.call('ZADD', KEYS[g.at + 1], v.expiry, v.id) == 0 then return end -- HSCAN may say one twice.
    g.visits = g.visits + 1
    if v.state == SPENT then return end
    g.in_use, g.holders = g.in_use + v.weight, g.holders + 1
    g.fence = math.max(g.fence, v.fence)
    if v.slot < 0 then return end
    if redis.call('ZADD', KEYS[g.at + 4], v.slot, v.slot) == 0 then
      v.slot = -1 -- Somebody else has it.
      g.visits_read[v.id], g.changed[v.id] = v, true
    end
    g.slots = math.max(g.slots, v.slot + 1)
  end

  local function repair_outside(g, v)
    if redis.call('ZADD', KEYS[g.at + 2], deadline(v), v.id) == 0 then return end
    g.visits, g.waiters = g.visits + 1, g.waiters + 1
    g.line_limit = math.max(g.line_limit, v.weight ~= 0 and v.limit or NEVER)
    g.arrivals = math.max(g.arrivals, v.place % PLACES)
    if v.state ~= WAITING then return end
    redis.call('ZADD', KEYS[g.at + 3], v.place, v.id)
    g.present = g.present + 1
  end

  -- One field of the hash. What is no record is dropped.
  local function repair_visit(g, id, packed)
    local fine, v = pcall(read_visit, id, packed)
    if not fine or v.state < WAITING or v.state > SPENT then
      redis.call('HDEL', g.hash, id)
      return
    end
    if is_in_line(v) then repair_outside(g, v) else repair_inside(g, v) end
    keep_until(g, deadline(v))
  end

  local function repair_visits(g, cursor)
    local scanned = redis.call('HSCAN', g.hash, cursor, 'COUNT', PORTION)
    local fields = scanned[2]
    for i = 1, #fields, 2 do
      if #fields[i] == 16 then repair_visit(g, fields[i], fields[i + 1]) end
    end
    return scanned[1] == '0' and 'f0' or 'v' .. scanned[1]
  end

  local function repair_slots(g, from)
    local till = math.min(from + SLOTS, g.slots)
    local taken, free = {}, {}
    local used = redis.call('ZRANGEBYSCORE', KEYS[g.at + 4], from, till - 1)
    for _, slot in ipairs(used) do taken[tonumber(slot)] = true end
    for slot = from, till - 1 do
      if not taken[slot] then
        free[#free + 1] = slot
        free[#free + 1] = slot
      end
    end
    if #used > 0 then redis.call('ZREM', KEYS[g.at + 4], unpack(used)) end
    if #free > 0 then redis.call('ZADD', KEYS[g.at + 4], unpack(free)) end
    g.freed = g.freed + #free / 2
    return till < g.slots and 'f' .. till or SOUND
  end

  local function complete(g)
    local drawn = g.has_drawn == 1 and find(g, g.drawn)
    if not drawn or not is_in_line(drawn) then g.has_drawn = 0 end
  end

  g.more, g.error = SOON, struct.pack('<ddd', AGAIN, WALL, SOON)
  if not g.exists then
    redis.call('UNLINK', KEYS[g.at + 1], KEYS[g.at + 2], KEYS[g.at + 3], KEYS[g.at + 4])
    return
  end
  give_back_first(g)
  local phase, at = string.match(state or '', '^([vf])(%d+)$')
  if not phase then begin_repair(g) end
  if phase == 'f' then
    state = repair_slots(g, tonumber(at))
  else
    state = repair_visits(g, at or '0')
  end
  if state == SOUND then complete(g) end
  g.state, g.made = state, { true, true, true, true }
  save(g)
end
