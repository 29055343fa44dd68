// Loaded into a node before anything else (NODE_OPTIONS=--import): its wall clock is off by the milliseconds that a file says.
import { readFileSync } from 'node:fs'

const path = process.env['FAULTS_CLOCK_FILE'] ?? ''
const rightNow = Date.now
const readEveryMs = 50
let [offsetMs, readAtMs] = [0, 0]

Date.now = (): number => {
  const nowMs = rightNow()
  if (nowMs - readAtMs > readEveryMs) {
    readAtMs = nowMs
    offsetMs = Number(readFileSync(path, 'utf8'))
  }
  return nowMs + offsetMs
}
