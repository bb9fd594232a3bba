-- identity.lua: which data these are: a random number that tokens carry.
--
-- KEYS[1] a hash: n, the number   ARGV[1] seed   ARGV[2] a number if there is none, or empty
-- ARGV[3] 1: also if there is another
--
-- Returns the number, empty: none.

local number = redis.call('HGET', KEYS[1], 'n') or ''
if ARGV[2] ~= '' and (number == '' or (ARGV[3] == '1' and number ~= ARGV[2])) then
  number = ARGV[2]
  redis.call('HSET', KEYS[1], 'n', number)
end
return number
