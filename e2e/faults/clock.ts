// Loaded into a node first (NODE_OPTIONS=--import): shifts its wall clock by the milliseconds in a file.
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
