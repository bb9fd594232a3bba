-- failing.lua: stands before time.lua in tests of scripts that do not end. The key `fail_at` says the number of
-- the command that is refused in every run; `spin_at`, the one before which it spins until it is killed.

local redis = (function(real)
  local fail_at, spin_at = tonumber(real.call('GET', 'fail_at')), tonumber(real.call('GET', 'spin_at'))
  local count = 0
  local function is_refused()
    count = count + 1
    while count == spin_at do end
    return count == fail_at
  end
  return {
    error_reply = real.error_reply,
    call = function(...)
      if is_refused() then error('ERR refused: ' .. (...)) end
      return real.call(...)
    end,
    pcall = function(...)
      if is_refused() then return { err = 'ERR refused' } end
      return real.pcall(...)
    end,
  }
end)(redis)
