import { expect, it } from 'vitest'
import { payloadOfBlock } from '#block/execution/payloadBlock'
import { createExecution } from '#blockchain/execution'
import { l2OutputRoot } from '#chainspec/l2OutputRoot'
import { l2RefOf } from '#chainspec/l2Ref'
import { createSafeHeadStore } from '#consensus/safeHeadStore'
import type { DriverStatus } from '#consensus/status'
import { readRecordedChain } from '#devnet/recordedChain'
import { createWasmEvm } from '#evm/wasmEvm'
import { silentLog } from '#lib/log'
import { createManualClock } from '#test/harness/clock'
import { createMemoryTable } from '#test/harness/consensus/execution'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import { decodeBlock } from '#types/block'
import { createRollupNode, type RollupNodeDeps } from './rollupNode.ts'

const { config, genesis, blocks } = readRecordedChain('op-bedrock-to-holocene')
const clock = createManualClock()
const execution = createExecution({
  kv: createMemoryKv(),
  evm: createWasmEvm(),
  config,
  genesis: () => genesis,
  clock,
  log: silentLog,
})
const refs = [execution.published.heads.unsafe]
for (const { raw, hash } of blocks.slice(1, 3)) {
  const payload = payloadOfBlock(decodeBlock(raw), hash)
  execution.insertPayload(payload)
  refs.push(l2RefOf(config, payload))
}
const [first, second, third] = refs
if (!first || !second || !third) throw new Error('no blocks')
await execution.setHeads({ unsafe: third, safe: second, finalized: first })

const l1 = { number: 9, hash: first.l1Origin.hash, parentHash: first.l1Origin.hash, timestamp: 0 }
const status: DriverStatus = {
  phase: 'deriving',
  l1: { latest: l1, safe: l1, finalized: l1 },
  origin: l1,
  heads: execution.published.heads,
  labels: 'l1',
  wait: undefined,
  waits: [],
  resets: 0,
  fault: undefined,
}
const store = createSafeHeadStore(createMemoryTable())
const nodeOf = (deps: Partial<RollupNodeDeps> = {}) =>
  createRollupNode({ config, status: () => status, trust: () => undefined, engine: execution, store, problems: () => [], ...deps })

/** Answers of op-node to optimism_outputAtBlock on this chain: output root, storage root of the message passer. */
const recorded = [
  '0xfdc59c6ef7579a049c3a750a7d357e6dbe237db355febb60e4c16364ec6d39ac',
  '0x992b4c4c6858e2f9df31c64f53ee79d77144fc91973876a5049ce21a934f23ea',
  '0xbdd0ba72642d2e6fc199f6b759d0508cb53acc9f1327a9bd770b508776972e9e',
]
const storageRoot = '0x8ed4baae3a927be3dea54996b4d5899f8c01e7594bf50b17dc1e741388ce3d12'

it.each([
  ['latest', 2],
  ['safe', 1],
  ['finalized', 0],
  [0, 0],
  [2, 2],
] as const)('node/serving/rollupNode: returns for %s the output that another client has for block %i', async (at, number) => {
  const output = await nodeOf().output(at)
  expect(output?.ref).toEqual(refs[number])
  expect(output?.messagePasserStorageRoot).toBe(storageRoot)
  expect(output && l2OutputRoot({ ...output, hash: output.ref.hash })).toBe(recorded[number])
})

it('node/serving/rollupNode: has no output for an unknown block', async () => {
  expect(await nodeOf().output(3)).toBeUndefined()
})

it('node/serving/rollupNode: fails instead of inventing a root when the state of a block is not retained', async () => {
  const forgetful: RollupNodeDeps['engine'] = {
    heads: () => execution.heads(),
    payload: (at) => execution.payload(at),
    storageRoot: async () => undefined,
  }
  await expect(nodeOf({ engine: forgetful }).output('safe')).rejects.toThrow('the state after block 1 is not retained')
})

it('node/serving/rollupNode: returns status and safe heads of the consensus half, and the current problems', () => {
  const entry = { l1: { number: 5, hash: first.hash }, safe: { number: 1, hash: second.hash } }
  store.append([entry, { l1: { number: 8, hash: first.hash }, safe: { number: 7, hash: third.hash } }])
  const node = nodeOf()
  expect([node.safeHeadAtL1(4), node.safeHeadAtL1(5), node.safeHeadAtL1(99)]).toEqual([undefined, entry, entry])
  expect(node.status()).toMatchObject({ currentL1: l1, headL1: l1, unsafeL2: third, safeL2: second, finalizedL2: first })
  expect(node.readiness()).toEqual({ problems: [] })
  expect(nodeOf({ problems: () => ['waiting for an L1 block'] }).readiness()).toEqual({ problems: ['waiting for an L1 block'] })
})
