// Loaded into a node first (NODE_OPTIONS=--import): while the file BUSY_FILE exists, its main thread is busy for 300 ms of each 600 ms.
import { existsSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

const path = process.env['BUSY_FILE'] ?? ''
const [everyMs, busyMs] = [600, 300]

if (isMainThread) {
  setInterval(() => {
    const untilMs = performance.now() + busyMs
    while (existsSync(path) && performance.now() < untilMs);
  }, everyMs).unref()
}
