-- leases.lua: what the steps with a token share.

-- The visit that a token is proof of, if it is still inside. REQUIRES: the gate is known. Looks at what else is due only if
-- something is.
local function holder_of(g, id, fence)
  g.used = g.now
  if g.now >= g.next_due then settle(g) end
  local v = find(g, id)
  if v and is_inside(v) and fence ~= 0 and v.fence == fence and v.expiry > g.now then return v end
end
