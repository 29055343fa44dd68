import { expect, it } from 'vitest'
import { account, topic } from '#test/harness/rpc/fakes'
import { type Hash, zeroHash } from '#types/ids'
import { type LocatedLog, logText, logTextBytes } from './log.ts'

const [number, hash] = [Number.MAX_SAFE_INTEGER, `0x${'ff'.repeat(32)}` as Hash]
const longest: LocatedLog = {
  log: { address: account(1), topics: [topic(1), topic(2), topic(3), topic(4)], data: new Uint8Array(1_000) },
  block: { hash, number, timestamp: number, timeMs: number },
  ...{ transactionHash: hash, transactionIndex: number, logIndex: number, isRemoved: false },
}

it.each<[string, LocatedLog]>([
  ['with all fields at their longest', longest],
  ['without topics and data', { ...longest, log: { ...longest.log, topics: [], data: new Uint8Array(0) }, transactionHash: zeroHash }],
])('rpc/results/log: the JSON of a log %s is at most as long as estimated', (_what, log) => {
  const [length, bytes] = [logText(log).length, logTextBytes(log)]
  expect(bytes).toBeGreaterThanOrEqual(length)
  expect(bytes - length).toBeLessThan(500)
})
