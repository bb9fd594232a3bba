-- revoke.lua: tell holders to stop; the slot moves on release or after a grace, or at once.
--
-- KEYS[1..5] the gate   ARGV[1] seed   ARGV[2] visitor, empty: everyone inside   ARGV[3] 1: at once
-- ARGV[4] where to go on, empty: from the beginning
--
-- Returns DONE, how many, and behind that where to go on: a portion of those who were inside when it
-- began. Nothing: that was all. Or AGAIN.

local MARGIN, PORTION = 100000, 4

local g = open(1)
if g.error then return g.error end
if not g.known then return reply(g, DONE, 0) end
give_back_first(g)
g.used = g.now
settle(g)

local function revoke_one(v)
  if ARGV[3] == '1' then
    bump(g, REVOKED)
    tell(g, v)
    return forget_with_refund(g, v)
  end
  -- A holder renews at a third of its ttl, so it has heard of this by then.
  local till = g.now + math.floor(v.ttl / 3) + MARGIN
  if v.revoked == 0 then v.revoked = till end
  if till < v.expiry then v.expiry = till end
  set_deadline(g, v)
  tell(g, v)
end

-- Lua compares text as people of a country do, and bytes not at all.
local function in_digits(id) return string.format('%08x%08x%08x%08x', struct.unpack('>I4I4I4I4', id)) end

-- The next ids, and where to go on. Those up to `last` have been met. ZSCAN tells a small set as a whole: then
-- only the lowest of them.
local function portion(cursor, last)
  local scanned = redis.call('ZSCAN', KEYS[2], cursor, 'COUNT', PORTION)
  local next, names, ids = tonumber(scanned[1]), {}, {}
  for i = 1, #scanned[2], 2 do
    local name = in_digits(scanned[2][i])
    if name > last then
      names[#names + 1] = name
      ids[name] = scanned[2][i]
    end
  end
  local is_part = cursor == 0 and next == 0 and #names > PORTION
  if is_part then table.sort(names) end
  local some = {}
  for i = 1, is_part and PORTION or #names do some[i] = ids[names[i]] end
  return some, next, is_part and names[PORTION] or last, is_part or next ~= 0
end

local began, newest, cursor, last = g.now, g.fence, 0, ''
local ids, more = { ARGV[2] }, false
if ARGV[4] ~= '' then
  began, newest, cursor = struct.unpack('<ddd', ARGV[4])
  last = string.sub(ARGV[4], 25)
end
if ARGV[2] == '' then
  ids, cursor, last, more = portion(cursor, last)
  if ARGV[4] == '' and g.lone_end ~= NEVER then ids[#ids + 1] = g.lone end
end

-- ZSCAN may tell of one twice.
local function is_met(v)
  return ARGV[3] ~= '1' and ARGV[4] ~= '' and v.revoked ~= 0
    and v.revoked - math.floor(v.ttl / 3) - MARGIN >= began
end

local count = 0
for _, id in ipairs(ids) do
  local v = find(g, id)
  if v and is_inside(v) and v.expiry > g.now and v.fence <= newest and not is_met(v) then
    revoke_one(v)
    count = count + 1
  end
end
settle(g)
local answer = reply(g, DONE, count)
if more then answer = answer .. struct.pack('<ddd', began, newest, cursor) .. last end
save(g)
return answer
