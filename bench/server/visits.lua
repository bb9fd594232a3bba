-- For wrk, with one thread: what its connections ask.
--
--   wrk ... -s visits.lua URL -- MODE [COOKIE]
--
-- empty: GET /live. live: the same, with the answers read as the modes below read them, so that wrk is as fast as there.
-- admit: admit, and release what was granted. check: GET /check by 16 visitors in turn. room: GET /check with the cookie of a
-- visitor that is in. The last line of the output is JSON.

local admit, tokens, visitors, turn = nil, {}, {}, 0
local json = {["Content-Type"] = "application/json"}

local function admit_or_release()
  local token = table.remove(tokens)
  if not token then return admit end
  return wrk.format("POST", "/v1/release", json, '{"token":"' .. token .. '"}')
end

local function next_visitor()
  turn = turn % #visitors + 1
  return visitors[turn]
end

local function keep_token(status, headers, body)
  local token = body:match('"token":"([^"]*)"')
  if token then table.insert(tokens, token) end
end

function init(args)
  local mode, cookie = args[1], args[2]
  wrk.path = "/live"
  if mode == "admit" then
    admit = wrk.format("POST", "/v1/gates/admitted/admit", json, '{"limit":1000}')
    request = admit_or_release
  elseif mode == "check" then
    for i = 1, 16 do visitors[i] = wrk.format("GET", "/check?gate=checked", {["X-Real-IP"] = "10.0.0." .. i}) end
    request = next_visitor
  else
    if mode == "room" then
      wrk.path = "/check?gate=room"
      wrk.headers["Cookie"] = cookie
    end
    local text = wrk.format()
    request = function() return text end
  end
  if mode ~= "empty" then response = keep_token end
end

function done(summary)
  local failed = {}
  for kind, count in pairs(summary.errors) do
    if count > 0 then table.insert(failed, string.format('"%s": %d', kind, count)) end
  end
  io.write(string.format('{"requests": %d, "failed": {%s}}\n', summary.requests, table.concat(failed, ", ")))
end
