import { expect, it } from 'vitest'
import { type DevnetStatus, statusLine } from './status.ts'

const status: DevnetStatus = {
  l1: { head: 61, isReachable: true },
  sequencer: { unsafe: 120, safe: 113, finalized: 96, isActive: true },
  batcher: { isPosting: true, backlogBlocks: 3 },
  verifier: { unsafe: 120, safe: 112, finalized: 96 },
  lagBlocks: 8,
  agreement: { kind: 'agrees', compared: 112, target: 112 },
  blocks: { perSec: 4.98, intervalP99Ms: 212.4 },
  transactionsPerSec: 0.46,
  times: { preconfirmed: undefined, sealed: undefined, safe: undefined },
  problems: [],
}
const difference = { number: 7, sequencer: '0x1', verifier: '0x2' }

it.each<[string, Partial<DevnetStatus>, string]>([
  ['there are no problems', {}, 'unsafe 120 · safe 112 (−8) · finalized 96 · L1 61 · agrees to 112 · 5.0 blocks/s (p99 212 ms) · 0.5 tx/s'],
  ['no block is compared yet', { agreement: { kind: 'agrees', compared: undefined, target: 0 } }, 'L1 61 · compares · 5.0 blocks/s'],
  ['a block differs', { agreement: { kind: 'differs', compared: 6, target: 9, difference } }, 'differs at 7'],
  ['the verifier disagrees', { agreement: { kind: 'disagrees', compared: 6, target: 9, difference } }, 'DISAGREES at 7'],
  ['no two blocks have arrived', { blocks: { perSec: 0, intervalP99Ms: undefined } }, 'to 112 · 0.0 blocks/s · 0.5 tx/s'],
  ['many transactions are sent', { transactionsPerSec: 1_234.5 }, '1235 tx/s'],
  [
    'transactions were sent',
    { times: { preconfirmed: 118.6, sealed: 1_240, safe: undefined } },
    '0.5 tx/s · send → preconfirmed 119 ms → sealed 1.2 s',
  ],
  ['the sequencer is paused', { sequencer: { ...status.sequencer, isActive: false } }, 'tx/s · sequencer paused'],
  ['the batcher is stopped', { batcher: { isPosting: false, backlogBlocks: 40 } }, 'tx/s · batcher stopped'],
  [
    'L1 is unreachable',
    { l1: { head: 61, isReachable: false }, problems: ['waits for L1', 'more'] },
    'tx/s · L1 unreachable · waits for L1',
  ],
])('devnet/status: the line when %s', (_what, fields, text) => {
  expect(statusLine({ ...status, ...fields })).toContain(text)
})
