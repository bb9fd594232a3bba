-- time.lua: the one place where a script learns the time.
--
-- Returns the microseconds that decide, and those for fences. They are the same here; tests put
-- another time.lua in the place of this one and step both.

local function server_time()
  local time = redis.call('TIME')
  local now = time[1] * 1000000 + time[2]
  return now, now
end
