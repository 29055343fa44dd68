import { expect, it } from 'vitest'
import { silentLog } from '#lib/log'
import { headerOf } from '#test/harness/chain/headers'
import { createManualClock, type ManualClock } from '#test/harness/clock'
import type { Block } from '#types/block'
import { hashHeader } from '#types/header'
import { type Hash, zeroHash } from '#types/ids'
import { Agreement, type ComparedNode, type Difference, defaultAgreementOptions } from './agreement.ts'

type Stored = { readonly hash: Hash; block: Block; problem?: string }
type FakeNode = ComparedNode & { blocks: Stored[]; safe: number; finalized: number; l1: Hash | undefined; reads: number; open: number }

const l1Hash = (digit: string): Hash => `0x${digit.repeat(64)}` as Hash

/** Blocks up to a number; from `forkAt` on they are of another branch. */
function chainOf(length: number, forkAt = length, branch = 'b'): Stored[] {
  const blocks: Stored[] = []
  let parentHash = zeroHash
  for (let number = 0; number < length; number++) {
    const extraData = new Uint8Array(Buffer.from(number < forkAt ? 'a' : branch))
    const header = headerOf({ number, parentHash, extraData })
    parentHash = hashHeader(header)
    blocks.push({ hash: parentHash, block: { header, transactions: [Uint8Array.of(2, number, 7)] } })
  }
  return blocks
}

function fakeNode(blocks: Stored[]): FakeNode {
  const node: FakeNode = {
    blocks,
    safe: blocks.length - 1,
    finalized: 0,
    l1: l1Hash('1'),
    reads: 0,
    open: 0,
    derivedL1Head: () => node.l1,
    view() {
      node.open++
      return {
        heads: { safe: { number: node.safe }, finalized: { number: node.finalized } },
        canonicalHash: (number) => node.blocks[number]?.hash,
        block(hash) {
          node.reads++
          const found = node.blocks.find((stored) => stored?.hash === hash)
          if (found?.problem) throw new RangeError(found.problem)
          return found && { block: found.block }
        },
        [Symbol.dispose]: () => void node.open--,
      }
    },
  }
  return node
}

type World = {
  readonly clock: ManualClock
  readonly sequencer: FakeNode
  readonly verifier: FakeNode
  readonly agreement: Agreement
  readonly running: Promise<Difference | undefined>
  readonly stop: AbortController
  readonly gauges: Record<string, number>
}

type WorldOptions = { readonly clock?: ManualClock; readonly prepare?: (verifier: FakeNode) => void }

function world(length: number, { clock = createManualClock(), prepare }: WorldOptions = {}): World {
  const [sequencer, verifier] = [fakeNode(chainOf(length)), fakeNode(chainOf(length))]
  prepare?.(verifier)
  const gauges: Record<string, number> = {}
  const gauge = (name: string) => ({
    set(_: unknown, value: number) {
      gauges[name] = value
    },
  })
  const metrics = { compared: gauge('compared'), disagreement: gauge('disagreement') }
  const agreement = new Agreement({ sequencer, verifier, clock, log: silentLog, metrics }, defaultAgreementOptions)
  const stop = new AbortController()
  return { clock, sequencer, verifier, agreement, running: agreement.run(stop.signal), stop, gauges }
}

it('devnet/agreement: compares each block once, from genesis up to the lower safe head', async () => {
  const { clock, sequencer, verifier, agreement, gauges, stop, running } = world(20, {
    prepare: (node) => {
      node.safe = 12
    },
  })
  await clock.advanceMs(1_000)
  expect(agreement.status()).toEqual({ kind: 'agrees', compared: 12, target: 12 })
  verifier.safe = 19
  sequencer.safe = 15
  await clock.advanceMs(1_000)
  expect(agreement.status()).toEqual({ kind: 'agrees', compared: 15, target: 15 })
  expect([sequencer.reads, verifier.reads]).toEqual([16, 16])
  expect(gauges).toEqual({ compared: 15, disagreement: 0 })
  stop.abort()
  expect(await running).toBeUndefined()
  expect([sequencer.open, verifier.open]).toEqual([0, 0])
})

/** Clock on which each read takes 3 ms: four blocks fill a slice of 10 ms. */
function slowClock(): ManualClock {
  const clock = createManualClock()
  let looks = 0
  return Object.create(clock, { elapsedMs: { value: () => clock.elapsedMs() + 3 * looks++ } }) as ManualClock
}

it('devnet/agreement: compares in slices, between which other tasks run', async () => {
  const { clock, sequencer, agreement } = world(100, { clock: slowClock() })
  expect(sequencer.reads).toBe(4)
  await clock.advanceToNext()
  expect(sequencer.reads).toBe(8)
  expect(agreement.status()).toEqual({ kind: 'agrees', compared: 7, target: 99 })
})

function seventh({ blocks }: FakeNode): Stored {
  const stored = blocks[7]
  if (!stored) throw new Error('no block 7')
  return stored
}

const differences: [string, (verifier: FakeNode) => void, string][] = [
  [
    'one byte of a transaction',
    (verifier) => {
      const stored = seventh(verifier)
      stored.block = { ...stored.block, transactions: [Uint8Array.of(2, 7, 8)] }
    },
    'with other bytes',
  ],
  [
    'a transaction less',
    (verifier) => {
      const stored = seventh(verifier)
      stored.block = { ...stored.block, transactions: [] }
    },
    'with other bytes',
  ],
  [
    'another branch',
    (verifier) => {
      verifier.blocks = chainOf(20, 7)
    },
    '0x',
  ],
  [
    'an unreadable block',
    (verifier) => {
      seventh(verifier).problem = 'entry 3 of 1'
    },
    'unreadable: entry 3 of 1',
  ],
  [
    'a missing block',
    (verifier) => {
      delete verifier.blocks[7]
    },
    'missing',
  ],
]

it.each(differences)('devnet/agreement: %s is a disagreement once both nodes had the same L1 for 10 s', async (_what, change, says) => {
  const { clock, agreement, running, gauges } = world(20, { prepare: change })
  await clock.advanceMs(9_900)
  const difference = { number: 7, verifier: expect.stringContaining(says) }
  expect(agreement.status()).toMatchObject({ kind: 'differs', compared: 6, difference })
  expect(gauges['disagreement']).toBe(0)
  await clock.advanceMs(1_000)
  expect(agreement.status()).toMatchObject({ kind: 'disagrees', compared: 6, difference })
  expect(gauges['disagreement']).toBe(1)
  expect(await running).toMatchObject({ number: 7 })
})

it('devnet/agreement: a block that differs during an L1 reorg is not a disagreement', async () => {
  const { clock, sequencer, verifier, agreement, gauges } = world(20)
  await clock.advanceMs(500)
  // the sequencer has followed the reorg, the verifier has not
  sequencer.blocks = chainOf(20, 15)
  sequencer.l1 = l1Hash('2')
  await clock.advanceMs(60_000)
  expect(agreement.status()).toMatchObject({ kind: 'differs', compared: 14, difference: { number: 15 } })
  verifier.blocks = chainOf(20, 15)
  verifier.l1 = l1Hash('2')
  await clock.advanceMs(500)
  expect(agreement.status()).toEqual({ kind: 'agrees', compared: 19, target: 19 })
  expect(gauges).toEqual({ compared: 19, disagreement: 0 })
})

it('devnet/agreement: compares a block again that was not safe in between', async () => {
  const { clock, sequencer, verifier, agreement } = world(20)
  await clock.advanceMs(500)
  sequencer.blocks = chainOf(20, 15)
  sequencer.l1 = undefined
  await clock.advanceMs(5_000)
  expect(agreement.status()).toMatchObject({ kind: 'differs' })
  verifier.safe = 12
  await clock.advanceMs(500)
  expect(agreement.status()).toEqual({ kind: 'agrees', compared: 14, target: 12 })
})

it('devnet/agreement: after a reorg it compares again from the last final block', async () => {
  const { clock, sequencer, verifier, agreement } = world(20)
  sequencer.finalized = 10
  verifier.finalized = 11
  await clock.advanceMs(500)
  const before = sequencer.reads
  sequencer.blocks = chainOf(20, 15)
  verifier.blocks = chainOf(20, 15)
  await clock.advanceMs(500)
  expect(agreement.status()).toEqual({ kind: 'agrees', compared: 19, target: 19 })
  expect(sequencer.reads - before).toBe(9)
})

it('devnet/agreement: a final block that differs is a disagreement even while a node is behind L1', async () => {
  const { clock, sequencer, verifier, running, gauges } = world(20, {
    prepare: (node) => {
      node.blocks = chainOf(20, 7)
      node.l1 = undefined
    },
  })
  sequencer.finalized = 6
  verifier.finalized = 9
  await clock.advanceMs(60_000)
  expect(gauges['disagreement']).toBe(0)
  sequencer.finalized = 7
  await clock.advanceMs(10_500)
  expect(gauges['disagreement']).toBe(1)
  expect(await running).toMatchObject({ number: 7 })
})

it('devnet/agreement: does not count the time in which the process was suspended', async () => {
  const clock = createManualClock()
  let stoodMs = 0
  const slept = Object.create(clock, { elapsedMs: { value: () => clock.elapsedMs() + stoodMs } }) as ManualClock
  const { agreement, verifier } = world(20, {
    clock: slept,
    prepare: (node) => {
      node.blocks = chainOf(20, 7)
    },
  })
  await clock.advanceMs(300)
  stoodMs = 60_000
  await clock.advanceMs(300)
  expect(agreement.status()).toMatchObject({ kind: 'differs' })
  verifier.blocks = chainOf(20)
  await clock.advanceMs(300)
  expect(agreement.status()).toMatchObject({ kind: 'agrees', compared: 19 })
})
