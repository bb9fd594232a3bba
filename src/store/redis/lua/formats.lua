-- formats.lua: constants and formats that all scripts share; docs/formats.md tells the fields.

local SCHEMA = 2 -- Raise it whenever a record changes; tests/formats/redis.golden notices.
local NEVER = math.huge
local IDLE = 600000000 -- An unused gate is forgotten after this.
local SPARE = 1800000000 -- Keys outlive what is in them by this at least.
local STAGGER = 50000 -- Those behind the head ask a little later each.
local PORTION = 128 -- So many visits are read in one call.
local PLACES = 1099511627776 -- 2^40: arrivals of one priority.

local WAITING, ABSENT, HANDED, HOLDING, SPENT = 1, 2, 3, 4, 5
local BOUND, DETACHED = 0, 1
local RETURNING = 2 -- Of `join`: only who is here already.
local FIFO, PRIORITY, LOTTERY, AGING = 0, 1, 2, 3
local FULL, RATE, PAUSED, LINE_FULL, LATE, NOT_EVER = 0, 1, 2, 3, 4, 5
local GRANTED, QUEUED, REFUSED, OTHER_ORDER, OTHER_KIND, AGAIN, DONE = 1, 2, 3, 4, 5, 6, 7

-- Their fields are in records.list, which also says what META_FIELDS and the like are.
local META, VISIT, REQUEST = META_FORMAT, VISIT_FORMAT, REQUEST_FORMAT
local COUNTERS = '<ddddddddddddddddddddddd'
-- 1 to 6: refused by reason; 11 to 22: waits; the others by name.
local EXPIRED, REVOKED, MISSED, ABANDONED, WAITS, WAIT_SUM = 7, 8, 9, 10, 11, 23

local LATER, SOON = 1, 2 -- Whether others wait for what is left to do.
local SOUND = '1' -- Of the field s: the parts of the gate agree.

local NOBODY = '\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0'

local CLOCK, WALL = server_time()

-- What follows the seed: for how long a gate admits nobody after a failover, and the run id of this server,
-- as the client knows it.
local DELAY, RUN = 0, nil
if #ARGV[1] > 10 then
  local delay, run = string.match(ARGV[1], ';(%d+);?(%x*)')
  DELAY, RUN = tonumber(delay), run ~= '' and run
end

-- A channel that belongs to a slot has its tag in braces. How many heard it. A message is a hint: nil,
-- and not the end of the script, if this user may not send it.
local function publish(channel, text)
  local command = string.find(channel, '{', 1, true) and 'SPUBLISH' or 'PUBLISH'
  local heard = redis.pcall(command, channel, text)
  return type(heard) == 'number' and heard or nil
end
