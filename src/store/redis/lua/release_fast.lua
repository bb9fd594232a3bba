-- release_fast.lua: the usual release, before the rest of the rules is even defined. The lease is
-- live, nothing is due, paused or overridden; nobody waits, or the head of a line in order takes just
-- what is given back. Anything else goes on below. The same arithmetic as there, and the same
-- writes; the random comparison with the rules covers both.
--
-- KEYS, ARGV and reply: release.lua

local read = redis.call('HMGET', KEYS[1], 'm', ARGV[2], 'p', 's', 'r')
if (DELAY == 0 or (RUN and read[5] == RUN)) and read[1] and read[2]
  and string.byte(read[1]) == SCHEMA and read[4] == SOUND then
  local _, META_FIELDS = struct.unpack(META, read[1])
  local state, _, _, _, _, _, _, weight, _, slot, its_fence, revoked =
    struct.unpack(VISIT_UP_TO_revoked, read[2])
  local now = CLOCK + offset
  local usual = now >= last and now < next_due and now + IDLE + SPARE <= kept
    and state == HOLDING and revoked == 0 and its_fence == tonumber(ARGV[3])
  local is_lone = lone == ARGV[2] and lone_end ~= NEVER
  local done, head, handed = false, nil, nil

  if usual and waiters == 0 then
    done = true
    local frees = slot >= 0 and slot < slots - 1
    if frees and freed == 0 then redis.call('ZCARD', KEYS[5]) end -- Ends here if it is no set.
    if is_lone then
      lone, lone_end = NOBODY, NEVER
    else
      redis.call('ZREM', KEYS[2], ARGV[2]) -- And here.
    end
    redis.call('HDEL', KEYS[1], ARGV[2], 's')
    if slot >= 0 and slot == slots - 1 then
      slots = slot
    elseif frees then
      redis.call('ZADD', KEYS[5], slot, slot)
      if freed == 0 and override < 0 then
        redis.call('PEXPIRE', KEYS[5], math.ceil((kept - now) / 1000))
      end
      freed = freed + 1
    end
    if freed > 0 and freed == slots then
      redis.call('UNLINK', KEYS[5])
      freed, slots = 0, 0
    end
    in_use, holders, visits, rate_due = in_use - weight, holders - 1, visits - 1, 0
  elseif usual and present > 0 and (order == FIFO or order == PRIORITY) and weight == 1
    and freed == 0 and override < 0 and (read[3] or '') == ''
    and (present == 1 or in_use >= line_limit) then
    head = redis.call('ZRANGE', KEYS[4], '0', '0')[1]
    local packed = head and redis.call('HGET', KEYS[1], head)
    local several, confirmed, its_weight, its_limit, claim_window, channel, at
    if packed then
      _, _, _, several, confirmed, _, _, its_weight, its_limit, _, _, _, _, _, _, _, _, _, _,
        claim_window, _, _, _, _, _, _, channel, _, at = struct.unpack(VISIT, packed)
    end
    if packed and at > #packed and several == 0 and its_weight == 1 and in_use <= its_limit
      and now + claim_window + SPARE <= kept
      and (channel == '' or publish(channel, head .. KEYS[1]) ~= 0 or confirmed == 0) then
      done = true
      local ends = now + claim_window
      if not is_lone then redis.call('ZCARD', KEYS[2]) end -- Ends here if it is no set,
      redis.call('ZREM', KEYS[3], head) -- or here.
      redis.call('HDEL', KEYS[1], ARGV[2], 's')
      if is_lone or lone_end == NEVER then
        lone, lone_end = head, ends
      else
        redis.call('ZADD', KEYS[2], ends, head)
      end
      if not is_lone then redis.call('ZREM', KEYS[2], ARGV[2]) end
      redis.call('ZREM', KEYS[4], head)
      fence = math.max(fence + 1, WALL)
      handed = string.char(HANDED) .. string.sub(packed, VISIT_AT_hold, VISIT_BEFORE_slot)
        .. struct.pack('<ddddd', slot, fence, 0, ends, now) .. string.sub(packed, VISIT_AT_joined)
      local since = now - last_grant
      interval = interval == 0 and since or math.floor((interval * 7 + since + 4) / 8)
      visits, waiters, present, last_grant = visits - 1, waiters - 1, present - 1, now
      rate_due, next_due = 0, math.min(next_due, ends)
    end
  end

  if done then
    forgotten, last, used = 0, now, now
    local meta = struct.pack(META, SCHEMA, META_FIELDS)
    if handed then
      redis.call('HSET', KEYS[1], 'm', meta, head, handed, 's', SOUND)
    else
      redis.call('HSET', KEYS[1], 'm', meta, 's', SOUND)
    end
    return struct.pack('<dddd', DONE, WALL, 0, 1)
  end
end
