-- wrk -s wrk.lua URL -- FILE measure|check SEED [HEADER]: draws requests at random from a file of JSON bodies, one a line; tells the result as one line of JSON.
-- With `check` each answer is looked at: the load is smaller, and errors are counted.
local requests = {}

local checked

function setup(thread)
  checked = thread
end

function init(args)
  math.randomseed(tonumber(args[3]))
  local headers = { ["content-type"] = "application/json", ["accept"] = "*/*" }
  if args[4] and args[4] ~= "" then
    headers[args[4]] = "1"
  end
  for line in io.lines(args[1]) do
    requests[#requests + 1] = wrk.format("POST", nil, headers, line)
  end
  wrong = 0
  sample = ""
  if args[2] == "check" then
    response = function(status, _, body)
      if status ~= 200 or string.find(string.sub(body, 1, 120), '"error"', 1, true) or string.find(body, '"result":null}', -20, true) then
        wrong = wrong + 1
        sample = string.sub(body, 1, 200)
      end
    end
  end
end

function request()
  return requests[math.random(#requests)]
end

function done(summary, latency)
  local failed = summary.errors
  local bad = failed.connect + failed.read + failed.write + failed.status + failed.timeout
  local form = '{"requests":%d,"sec":%.6f,"bytes":%d,"p50Ms":%.3f,"p99Ms":%.3f,"maxMs":%.3f,"failed":%d,"wrong":%d,"sample":"%s"}\n'
  local said = string.gsub(checked:get("sample") or "", '[%c"\\]', "'")
  io.write(string.format(form, summary.requests, summary.duration / 1e6, summary.bytes, latency:percentile(50) / 1e3,
    latency:percentile(99) / 1e3, latency.max / 1e3, bad, checked:get("wrong") or 0, said))
end
