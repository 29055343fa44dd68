import { expect, it } from 'vitest'
import { silentLog } from '#lib/log'
import { createManualClock } from '#test/harness/clock'
import { type Hash, zeroHash } from '#types/ids'
import { createDevnetFaults } from './devnetFaults.ts'
import { devnetFault } from './faults.ts'

function world() {
  const clock = createManualClock()
  const said: string[] = []
  const say = (text: string): void => void said.push(text)
  const state = { isActive: true, head: zeroHash as Hash | undefined, refusals: 0, most: 10 }
  const faults = createDevnetFaults({
    clock,
    log: silentLog,
    unsafeHead: () => state.head,
    sequencer: {
      isActive: () => state.isActive,
      async stop() {
        say('stop')
        state.isActive = false
        return zeroHash
      },
      async start() {
        if (state.refusals-- > 0) throw new Error('another head')
        say('start')
        state.isActive = true
      },
    },
    batcher: { stop: () => say('batcher stop'), start: () => say('batcher start'), corruptNext: () => say('corrupt') },
    gate: { fetch, shut: () => say('shut'), open: () => say('open') },
    l1: {
      async reorg(depth) {
        if (depth > state.most) throw devnetFault('DEVNET_L1_DEPTH', { depth, most: state.most })
        say(`reorg ${depth}`)
      },
    },
    metrics: { faults: { inc: ({ kind }) => say(`+${kind}`) } },
  })
  return { clock, said, state, faults }
}

it('devnet/devnetFaults: each fault begins, is counted, and ends by itself', async () => {
  const { clock, said, faults } = world()
  await faults.pauseSequencer(3)
  await faults.stopBatcher(2)
  await faults.dropL1(1)
  await faults.corruptBatch()
  await faults.reorgL1(2)
  expect([faults.isSequencerPaused, faults.isBatcherStopped, faults.isL1Dropped]).toEqual([true, true, true])
  const counted = [
    '+pause-sequencer',
    'stop',
    '+stop-batcher',
    'batcher stop',
    '+drop-l1',
    'shut',
    '+corrupt-batch',
    'corrupt',
    '+reorg-l1',
    'reorg 2',
  ]
  expect(said).toEqual(counted)
  await clock.advanceMs(10_000)
  expect(said.slice(counted.length)).toEqual(['open', 'batcher start', 'start'])
  expect([faults.isSequencerPaused, faults.isBatcherStopped, faults.isL1Dropped]).toEqual([false, false, false])
})

it('devnet/devnetFaults: starts the sequencer at the unsafe head, as soon as it is known', async () => {
  const { clock, said, state, faults } = world()
  state.head = undefined
  state.refusals = 2
  await faults.pauseSequencer(1)
  await clock.advanceMs(3_000)
  expect(state.isActive).toBe(false)
  state.head = zeroHash
  await clock.advanceMs(1_000)
  expect(said).toEqual(['+pause-sequencer', 'stop', 'start'])
})

it('devnet/devnetFaults: reduces the depth of a reorg to the possible one', async () => {
  const { said, state, faults } = world()
  state.most = 1
  await faults.reorgL1(4)
  state.most = 0
  await faults.reorgL1(4)
  expect(said).toEqual(['+reorg-l1', 'reorg 1', '+reorg-l1'])
})

it('devnet/devnetFaults: disposing ends active faults, without waiting for a head', async () => {
  const { clock, said, state, faults } = world()
  await faults.pauseSequencer(60)
  await faults.dropL1(60)
  state.head = undefined
  await faults[Symbol.asyncDispose]()
  expect(said.at(-1)).toBe('open')
  expect(clock.waiting).toBe(0)
})
