-- visits.lua: the next portion of the visits of a gate. Reads only.
--
-- KEYS[1..5] the gate   ARGV[1] seed   ARGV[2] where to continue, as the portion before says
--
-- Returns what HSCAN does: where to continue, '0': nowhere; fields of the hash and their values, in
-- turn. A visit that is there from the first portion to the last is in one of them.

return redis.call('HSCAN', KEYS[1], ARGV[2], 'COUNT', PORTION)
