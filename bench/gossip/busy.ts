// node bench/gossip/busy.ts PERCENT: takes a part of a core, ten milliseconds after the other, until it is ended.
const periodMs = 10
const busyMs = (periodMs * Number(process.argv[2])) / 100
setInterval(() => {
  const untilMs = performance.now() + busyMs
  while (performance.now() < untilMs);
}, periodMs)
