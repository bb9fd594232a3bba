-- replies.lua: answers. Every reply is one string of little-endian doubles: its kind, the server's
-- time, LATER or SOON if there is more to do at the gate (ask settle.lua), then what the kind has.

local UNKNOWN_RETRY = 1000000 -- Nothing is known of when a gate opens.

local function reply(g, kind, ...)
  local values = { kind, WALL, g.more or 0, ... }
  return struct.pack('<' .. string.rep('d', #values), unpack(values))
end

-- fence, expires in, slot or -1, repeated, taken, delay; limit, remaining, retry, reset of the rate
local function granted_fields(g, v, repeated, taken, rate)
  return v and v.fence or 0, v and v.expiry - g.now or 0, v and v.slot or -1, repeated, taken, 0,
    rate.limit, rate.remaining, rate.retry, rate.reset
end

local function retry_after(g)
  local event = next_event(g)
  return event == NEVER and UNKNOWN_RETRY or math.max(event - g.now, 1)
end

-- reason, retry after; limit, remaining, retry, reset of the rate
local function refused_fields(g, reason, retry, rate)
  bump(g, reason + 1)
  return reason, retry, rate.limit, rate.remaining, rate.retry, rate.reset
end

-- position, waiting, next check, expected wait; limit, remaining, retry, reset of the rate
local function queued_fields(g, v, rate)
  local place = position(g, v)
  local event = next_event(g)
  local next_check = math.min(math.floor(v.patience / 3),
    math.max(event - g.now, 1) + (place - 1) * STAGGER)
  return place, g.waiters, math.max(next_check, 1), g.interval * place, rate.limit,
    rate.remaining, rate.retry, rate.reset
end
