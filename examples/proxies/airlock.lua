-- docs/proxies.md shows this file and tests/server/server_proxies_test.py runs it. For HAProxy 2.6 and later.

-- [lua]
-- http-request lua.airlock_check GATE: asks airlock-server about the client. Sets txn.airlock_status to admitted, queued,
-- refused, outage or invalid, to "down" where nothing is answered, or to "mistake" where the gate or the question is wrong;
-- txn.airlock_admits to whether the request may pass.
local timeout = 2000  -- Milliseconds. HAProxy 2.6 tries up to four times.

core.register_action("airlock_check", { "http-req" }, function(txn, gate)
    local asked, response = pcall(function()
        return core.httpclient():get{
            url = "http://127.0.0.1:8420/check?gate=" .. gate,
            headers = { ["host"] = { "localhost" }, ["x-real-ip"] = { txn.f:src() } },
            timeout = timeout,
        }
    end)
    if not asked or not response then response = { status = 0 } end
    local function field(name, otherwise)
        local values = response.headers and response.headers[name]
        return values and values[0] or otherwise
    end
    local is_mistake = response.status >= 400 and response.status < 500
    txn:set_var("txn.airlock_status", field("airlock-status", is_mistake and "mistake" or "down"))
    txn:set_var("txn.airlock_admits", response.status == 204)
    txn:set_var("txn.airlock_retry_after", field("retry-after", "1"))
    txn:set_var("txn.airlock_position", field("airlock-position", ""))
end, 1)
-- [/lua]
