-- check_gate.lua: what does not agree in a gate, as lines of text, or that it is sound. Behind formats.lua.
--
-- KEYS[1..5] the gate   ARGV[1] any number

local wrong = ''
local function expect(what, is, should)
  if is ~= should then
    wrong = wrong .. what .. ' is ' .. tostring(is) .. ' instead of ' .. tostring(should) .. '\n'
  end
end

local function exists(part) return redis.call('EXISTS', KEYS[part]) == 1 end

local fields, flat = {}, redis.call('HGETALL', KEYS[1])
for i = 1, #flat, 2 do fields[flat[i]] = flat[i + 1] end
if not fields.m then
  for part = 1, 5 do expect(KEYS[part], exists(part), false) end
  return wrong == '' and 'it is sound' or wrong
end
expect('s', fields.s, SOUND)
local _, _, _, present, _, _, override, lone, _, _, next_due, lone_end, fence, in_use, holders, visits,
  waiters, line_limit, _, slots, freed = struct.unpack(META, fields.m)

local found = { in_use = 0, holders = 0, visits = 0, waiters = 0, present = 0, inside = 0, slots = 0 }
local function count(what, by) found[what] = found[what] + (by or 1) end

local taken = {}
for id, packed in pairs(fields) do
  if #id == 16 then
    local state, _, _, _, _, _, _, weight, limit, slot, its_fence, _, expiry, _, _, _, patience_end,
      called_until, place = struct.unpack(VISIT, packed)
    count('visits')
    if state == WAITING or state == ABSENT then
      local ends = called_until ~= 0 and called_until or patience_end
      count('waiters')
      expect('a deadline outside', tonumber(redis.call('ZSCORE', KEYS[3], id)), ends)
      expect('the next event is late', next_due > ends, false)
      expect('the line has a higher limit', (weight ~= 0 and limit or NEVER) > line_limit, false)
      if state == WAITING then
        count('present')
        expect('a place', tonumber(redis.call('ZSCORE', KEYS[4], id)), place)
      end
    else
      local is_lone = id == lone and lone_end ~= NEVER
      local ends = is_lone and lone_end or tonumber(redis.call('ZSCORE', KEYS[2], id))
      -- Early is harmless: it is noticed then.
      expect('a deadline inside is there and not late', ends and ends <= expiry, true)
      expect('the next event is late', next_due > expiry, false)
      if not is_lone then count('inside') end
      if state ~= SPENT then
        count('in_use', weight)
        count('holders')
        expect('a fence is higher', its_fence > fence, false)
        if slot >= 0 then
          expect('slot ' .. slot .. ' is taken', taken[slot], nil)
          expect('slot ' .. slot .. ' is free', redis.call('ZSCORE', KEYS[5], slot), false)
          expect('slot ' .. slot .. ' is too high', slot < slots, true)
          taken[slot] = true
          count('slots')
        end
      end
    end
  end
end
expect('in_use', in_use, found.in_use)
expect('holders', holders, found.holders)
expect('visits', visits, found.visits)
expect('waiters', waiters, found.waiters)
expect('present', present, found.present)
expect('freed', freed, slots - found.slots)
expect('inside', redis.call('ZCARD', KEYS[2]), found.inside)
expect('outside', redis.call('ZCARD', KEYS[3]), found.waiters)
expect('the line', redis.call('ZCARD', KEYS[4]), found.present)
expect('free slots', redis.call('ZCARD', KEYS[5]), freed)
for part = 1, 5 do
  if exists(part) then
    expect('ttl of ' .. KEYS[part], redis.call('PTTL', KEYS[part]) > 0, override < 0)
  end
end
return wrong == '' and 'it is sound' or wrong
