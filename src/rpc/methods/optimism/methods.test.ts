import { expect, it } from 'vitest'
import { topic } from '#test/harness/rpc/fakes'
import type { BlockId, L1Ref, L2Ref } from '#types/blockRef'
import { type Address, type Hash, zeroHash } from '#types/ids'
import type { RollupStatus } from '#types/rollupStatus'
import type { RollupContext } from '../../context.ts'
import { rollupRegistry } from '../../methods.ts'
import type { OutputFacts } from '../../ports.ts'

const l1 = (number: number): L1Ref => ({ hash: topic(number), number, parentHash: topic(number - 1), timestamp: 1_000 + number })
const l2 = (number: number): L2Ref => ({ ...l1(number), l1Origin: { hash: topic(9), number: 9 }, sequenceNumber: 1 })
const unknown: RollupStatus = {
  ...{ currentL1: undefined, headL1: undefined, safeL1: undefined, finalizedL1: undefined },
  ...{ unsafeL2: undefined, safeL2: undefined, finalizedL2: undefined },
}

/** Values and output root of a genesis block, recorded from op-node. */
const genesis: OutputFacts = {
  ref: {
    hash: '0x24a465ec1c44a7a2c24fe2cde8b184f11f4520849e3505bc0f59eb6f472c838e' as Hash,
    ...{ number: 0, parentHash: zeroHash, timestamp: 1_795_258_458, sequenceNumber: 0 },
    l1Origin: { hash: '0x294ca2b77d05b59e806b6a5c74a7e52f6b067e0689e417a3e1eca742d2f2fffe' as Hash, number: 3 },
  },
  stateRoot: '0xd72bae4b272d1e399c9f832af2bd63bd1e1c029bbf020c46564bf0f8accb1250' as Hash,
  messagePasserStorageRoot: '0x8ed4baae3a927be3dea54996b4d5899f8c01e7594bf50b17dc1e741388ce3d12' as Hash,
}

function contextOf(status: RollupStatus, safeHeads: Readonly<Record<number, { l1: BlockId; safe: BlockId }>> = {}) {
  const asked: unknown[] = []
  const context: RollupContext = {
    rollup: {
      config: undefined as never,
      status: () => status,
      readiness: () => ({ problems: [] }),
      output: async (at) => {
        asked.push(at)
        return at === 0 ? genesis : undefined
      },
      safeHeadAtL1: (number) => safeHeads[number],
    },
    version: 'v1',
    cancellation: { isCancelled: false },
  }
  return { asked, ask: async (method: string, ...params: unknown[]) => rollupRegistry.get(`optimism_${method}`)?.call(context, params) }
}

it('rpc/methods/optimism/rollup: returns every head under its name; cross-unsafe is unsafe, local-safe is safe', async () => {
  const heads = { unsafeL2: l2(30), safeL2: l2(20), finalizedL2: l2(10) }
  const { ask } = contextOf({ currentL1: l1(4), headL1: l1(5), safeL1: l1(3), finalizedL1: l1(2), ...heads })
  const status = (await ask('syncStatus')) as Record<string, { number: number }>
  expect(Object.entries(status).map(([name, { number }]) => [name, number])).toEqual([
    ['current_l1', 4],
    ['current_l1_finalized', 2],
    ['head_l1', 5],
    ['safe_l1', 3],
    ['finalized_l1', 2],
    ['unsafe_l2', 30],
    ['safe_l2', 20],
    ['finalized_l2', 10],
    ['cross_unsafe_l2', 30],
    ['local_safe_l2', 20],
  ])
  const { unsafe_l2: unsafe } = status
  expect(unsafe).toEqual({
    ...{ hash: topic(30), number: 30, parentHash: topic(29), timestamp: 1_030 },
    ...{ l1origin: { hash: topic(9), number: 9 }, sequenceNumber: 1 },
  })
})

it('rpc/methods/optimism/rollup: returns zero for an unknown head', async () => {
  const status = (await contextOf(unknown).ask('syncStatus')) as Record<string, object>
  const { head_l1: head, safe_l2: safe } = status
  expect(head).toEqual({ hash: zeroHash, number: 0, parentHash: zeroHash, timestamp: 0 })
  expect(safe).toMatchObject({ hash: zeroHash, l1origin: { hash: zeroHash, number: 0 }, sequenceNumber: 0 })
})

it('rpc/methods/optimism/rollup: returns the same output root as op-node', async () => {
  expect(await contextOf(unknown).ask('outputAtBlock', '0x0')).toMatchObject({
    version: zeroHash,
    outputRoot: '0xfdc59c6ef7579a049c3a750a7d357e6dbe237db355febb60e4c16364ec6d39ac',
    blockRef: { number: 0, l1origin: { number: 3 } },
    withdrawalStorageRoot: genesis.messagePasserStorageRoot,
    stateRoot: genesis.stateRoot,
    syncStatus: { head_l1: { number: 0 } },
  })
})

it('rpc/methods/optimism/rollup: accepts block numbers and labels; pending is latest, earliest is 0', async () => {
  const { ask, asked } = contextOf(unknown)
  for (const at of ['0x5', 'latest', 'pending', 'safe', 'finalized']) await ask('outputAtBlock', at).catch(() => {})
  await ask('outputAtBlock', 'earliest')
  expect(asked).toEqual([5, 'latest', 'latest', 'safe', 'finalized', 0])
})

it('rpc/methods/optimism/rollup: answers an unknown block with an internal error that names it, like op-node', async () => {
  const data = 'block not found: 0xffffff'
  await expect(contextOf(unknown).ask('outputAtBlock', '0xffffff')).rejects.toMatchObject({ code: -32603, message: 'Internal error', data })
})

it('rpc/methods/optimism/rollup: returns the safe head after an L1 block, or an error when there is none', async () => {
  const { ask } = contextOf(unknown, { 33: { l1: l1(31), safe: l2(53) } })
  const expected = { l1Block: { hash: topic(31), number: 31 }, safeHead: { hash: topic(53), number: 53 } }
  expect(await ask('safeHeadAtL1Block', '0x21')).toEqual(expected)
  expect(await ask('safeHeadAtL1Block', 33)).toEqual(expected)
  await expect(ask('safeHeadAtL1Block', '0x1')).rejects.toMatchObject({ code: -32001, message: 'safe head not found' })
})

it('rpc/methods/optimism/rollup: adds the block on which the state begins, with its grade, to the sync status', async () => {
  const block = { hash: topic(7), number: 7 }
  const trust = { block, grade: 'attested', l1: { hash: topic(8), number: 8 }, game: `0x${'61'.repeat(20)}` as Address } as const
  const status = (await contextOf({ ...unknown, trust }).ask('syncStatus')) as Record<string, unknown>
  expect(status['trust']).toEqual({ grade: 'attested', block, l1: trust.l1, proposal: trust.game })
  const derived = (await contextOf({ ...unknown, trust: { block, grade: 'derived' } }).ask('syncStatus')) as Record<string, unknown>
  expect(derived['trust']).toEqual({ grade: 'derived', block })
})
