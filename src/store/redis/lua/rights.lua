-- rights.lua: which commands of the other scripts the user of this connection may not run.
--
-- KEYS[1..5] a gate that nobody uses   ARGV[1] seed   ARGV[2] a channel that nobody hears
--
-- KEYS[1] is made and deleted. Returns what the server said to each command that failed, after its
-- name; a key of the wrong kind is none of a user's rights.

local key = KEYS[1]
local failures = {}
for _, command in ipairs({
  { 'HSET', key, 'f', 'v' }, { 'PEXPIRE', key, 1000 }, { 'HGET', key, 'f' }, { 'HMGET', key, 'f' },
  { 'HSCAN', key, '0' }, { 'HDEL', key, 'g' }, { 'PERSIST', key }, { 'ZADD', key, 1, 'm' },
  { 'ZREM', key, 'm' }, { 'ZRANGE', key, 0, 0 }, { 'ZRANGEBYSCORE', key, 0, 0 }, { 'ZRANK', key, 'm' },
  { 'ZCOUNT', key, 0, 0 }, { 'ZPOPMIN', key }, { 'PEXPIRE', key, 1000 }, { 'DEL', key },
  { string.find(ARGV[2], '{', 1, true) and 'SPUBLISH' or 'PUBLISH', ARGV[2], '' }, { 'TIME' },
}) do
  local said = redis.pcall(unpack(command))
  if type(said) == 'table' and said.err then
    failures[#failures + 1] = command[1] .. ' ' .. said.err
  end
end
return failures
