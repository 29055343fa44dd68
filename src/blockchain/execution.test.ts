import { describe, expect, it } from 'vitest'
import { l2RefOf } from '#chainspec/l2Ref'
import { isFault } from '#lib/fault'
import { silentLog } from '#lib/log'
import { accountOf, attributesAt, hashOf, scheduleTo, signedBy, smallChain } from '#test/harness/chain/blocks'
import { createManualClock } from '#test/harness/clock'
import { testAddress } from '#test/harness/evm/sessions'
import { sharedEvm } from '#test/harness/evm/sharedEvm'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import type { BlockId, L2Ref } from '#types/blockRef'
import type { Payload } from '#types/payload'
import { hashTransaction } from '#types/transaction'
import { createExecution, type Execution } from './execution.ts'

const schedule = scheduleTo('isthmus')
const { genesis, config } = smallChain(schedule)
const genesisId: BlockId = config.genesis.l2

function start(kv = createMemoryKv(), opts: { maxTreeBytes?: number } = {}) {
  const phases: string[] = []
  const onCommit = (phase: string) => void phases.push(phase)
  const deps = { kv, evm: sharedEvm, config, genesis: () => genesis, clock: createManualClock(), log: silentLog, onCommit }
  const execution = createExecution(deps, opts)
  const refOf = (payload: Payload): L2Ref => l2RefOf(config, payload)
  const build = async (parent: BlockId, transactions: readonly Uint8Array[] = [], branch = 0): Promise<Payload> => {
    const result = await execution.build(parent, attributesAt(schedule, parent.number + 1, transactions, branch))
    if (result.kind === 'invalid') throw new Error(result.reason)
    return result.payload
  }
  /** Builds blocks one on another. */
  const grow = async (parent: BlockId, count: number, branch = 0): Promise<L2Ref[]> => {
    const refs: L2Ref[] = []
    for (let i = 0; i < count; i++) refs.push(refOf(await build(refs.at(-1) ?? parent, [], branch)))
    return refs
  }
  const setUnsafe = async (unsafe: L2Ref) => execution.setHeads({ ...(await execution.heads()), unsafe })
  return { execution, kv, build, grow, refOf, setUnsafe, phases }
}

const canonical = (execution: Execution, count: number) => {
  using view = execution.view()
  return Array.from({ length: count }, (_, number) => view.canonicalHash(number))
}
const balanceOfTarget = (execution: Execution, block: BlockId) => {
  using view = execution.view()
  return view.state(block)?.account(testAddress(0x77))?.balance
}

describe('blockchain/execution: opening', () => {
  it('writes the genesis block to an empty store and sets all three heads to it', async () => {
    const { execution } = start()
    const { unsafe, safe, finalized } = await execution.heads()
    expect(unsafe).toMatchObject({ ...genesisId, l1Origin: config.genesis.l1, sequenceNumber: 0 })
    expect([safe, finalized]).toEqual([unsafe, unsafe])
    expect(await execution.payload(0)).toMatchObject({ blockHash: genesisId.hash, transactions: [] })
  })

  it('refuses a genesis other than the configured one, and writes nothing (WRONG_GENESIS)', async () => {
    const kv = createMemoryKv()
    const other = { ...config, genesis: { ...config.genesis, l2: { number: 0, hash: hashOf('other') } } }
    const deps = { kv, evm: sharedEvm, genesis: () => genesis, clock: createManualClock(), log: silentLog }
    expect(() => createExecution({ ...deps, config: other })).toThrow(expect.objectContaining({ code: 'WRONG_GENESIS' }))
    expect(await createExecution({ ...deps, config }).heads()).toMatchObject({ unsafe: genesisId })
  })

  it('refuses the store of another chain, and names both genesis hashes (GENESIS_MISMATCH)', () => {
    const { kv } = start()
    const other = { ...config, genesis: { ...config.genesis, l2: { number: 0, hash: hashOf('other') } } }
    const deps = { kv, evm: sharedEvm, genesis: () => genesis, clock: createManualClock(), log: silentLog }
    const data = { stored: genesisId.hash, configured: hashOf('other') }
    expect(() => createExecution({ ...deps, config: other })).toThrow(expect.objectContaining({ code: 'GENESIS_MISMATCH', data }))
  })

  it('restores committed blocks after a restart without a journal, and no others', async () => {
    const { execution, kv, grow } = start()
    const [first, second, third] = (await grow(genesisId, 3)) as [L2Ref, L2Ref, L2Ref]
    await execution.setHeads({ unsafe: second, safe: first, finalized: first })
    await execution.close()
    const again = start(kv)
    expect(await again.execution.heads()).toEqual({ unsafe: second, safe: first, finalized: first })
    expect(await again.execution.payload(third.hash)).toBeUndefined()
    await expect(again.setUnsafe(third)).rejects.toMatchObject({ code: 'INVALID_FORKCHOICE' })
    expect(await again.grow(second, 1)).toEqual([third])
    await again.setUnsafe(third)
  })
})

describe('blockchain/execution: blocks', () => {
  it('knows a built block without moving a head, and builds on it', async () => {
    const { execution, build } = start()
    const first = await build(genesisId, [signedBy('alice', {})])
    expect(await execution.payload(first.blockHash)).toEqual(first)
    expect(await execution.payload(1)).toBeUndefined()
    expect((await execution.heads()).unsafe.number).toBe(0)
    const second = await build({ number: 1, hash: first.blockHash }, [signedBy('alice', { nonce: 1n })])
    expect(second.parentHash).toBe(first.blockHash)
    expect(balanceOfTarget(execution, { number: 2, hash: second.blockHash })).toBe(2n)
  })

  it('refuses a block on an unknown parent (UNKNOWN_PARENT)', async () => {
    const { build } = start()
    const unknown = { number: 4, hash: hashOf('nowhere') }
    await expect(build(unknown)).rejects.toMatchObject({ code: 'UNKNOWN_PARENT', severity: 'reset' })
    const first = await build(genesisId)
    const second = await build({ number: 1, hash: first.blockHash })
    expect(() => start().execution.insertPayload(second)).toThrow(expect.objectContaining({ code: 'UNKNOWN_PARENT' }))
  })

  it('gives an inserted payload the same hash on another node, and does not know an invalid one', async () => {
    const payload = await start().build(genesisId, [signedBy('alice', {})])
    const { execution, setUnsafe, refOf } = start()
    expect(execution.insertPayload(payload)).toEqual({ kind: 'valid' })
    expect(execution.insertPayload(payload)).toEqual({ kind: 'valid' })
    await setUnsafe(refOf(payload))
    expect(execution.insertPayload({ ...payload, blockHash: hashOf('other') })).toMatchObject({ kind: 'invalid' })
    expect(execution.insertPayload({ ...payload, gasUsed: 1n })).toMatchObject({ kind: 'invalid' })
    expect(await execution.payload(hashOf('other'))).toBeUndefined()
    expect(await execution.payload(1)).toEqual(payload)
  })
})

describe('blockchain/execution: heads', () => {
  it('makes the branch of the unsafe head canonical with its transactions, in one commit', async () => {
    const { execution, build, setUnsafe, refOf, phases } = start()
    const raw = signedBy('alice', {})
    const first = refOf(await build(genesisId, [raw]))
    const second = refOf(await build(first))
    await setUnsafe(second)
    execution.commit()
    expect(phases).toEqual(['begin', 'end'])
    expect(canonical(execution, 4)).toEqual([genesisId.hash, first.hash, second.hash, undefined])
    using view = execution.view()
    expect(view.transaction(hashTransaction(raw))).toEqual({ block: { number: 1, hash: first.hash }, index: 1 })
    expect(view.block(first.hash)?.senders[1]).toBe(accountOf('alice'))
    expect(view.receipts(first.hash)?.[1]).toMatchObject({ gasUsed: 21_000n, fees: { l1Fee: 0n } })
  })

  it('needs no commit for heads that are set already', async () => {
    const { execution, grow, setUnsafe, phases } = start()
    const [first] = (await grow(genesisId, 1)) as [L2Ref]
    await setUnsafe(first)
    execution.commit()
    await setUnsafe(first)
    execution.commit()
    expect(phases).toEqual(['begin', 'end'])
  })

  it('keeps the finalized head when an older one is named, also after a restart: no branch begins below it', async () => {
    const { execution, kv, grow } = start()
    const main = (await grow(genesisId, 5)) as [L2Ref, L2Ref, L2Ref, L2Ref, L2Ref]
    const [first, second, third, fourth, fifth] = main
    const [side] = (await grow(second, 1, 1)) as [L2Ref]
    await execution.setHeads({ unsafe: fifth, safe: fourth, finalized: third })
    await execution.setHeads({ unsafe: fifth, safe: first, finalized: first })
    expect(await execution.heads()).toEqual({ unsafe: fifth, safe: third, finalized: third })
    for (const unsafe of [second, side]) {
      const refused = execution.setHeads({ unsafe, safe: first, finalized: first })
      await expect(refused).rejects.toMatchObject({ code: 'INVALID_FORKCHOICE', data: { label: 'unsafe' } })
    }
    await execution.setHeads({ unsafe: fourth, safe: fourth, finalized: second })
    expect(await execution.heads()).toEqual({ unsafe: fourth, safe: fourth, finalized: third })
    await execution.close()
    const again = start(kv).execution
    await again.setHeads({ unsafe: third, safe: first, finalized: first })
    expect(await again.heads()).toEqual({ unsafe: third, safe: third, finalized: third })
    expect(canonical(again, 5)).toEqual([genesisId.hash, first.hash, second.hash, third.hash, undefined])
  })

  it('unwinds the old branch and writes the new one on a reorg; history and state follow', async () => {
    const { execution, build, grow, setUnsafe, refOf } = start()
    const raw = signedBy('alice', { value: 9n })
    const [first] = (await grow(genesisId, 1)) as [L2Ref]
    const old = refOf(await build(first, [raw]))
    const older = refOf(await build(old))
    await setUnsafe(older)
    const side = await grow(first, 3, 1)
    await setUnsafe(side[2] as L2Ref)
    expect(canonical(execution, 6)).toEqual([genesisId.hash, first.hash, ...side.map(({ hash }) => hash), undefined])
    using view = execution.view()
    expect(view.transaction(hashTransaction(raw))).toBeUndefined()
    expect(balanceOfTarget(execution, side[2] as L2Ref)).toBeUndefined()
    expect(balanceOfTarget(execution, old)).toBe(9n)
  })

  it('returns to a branch that it left without executing it again', async () => {
    const { execution, grow, setUnsafe } = start()
    const main = await grow(genesisId, 3)
    const side = await grow(genesisId, 2, 1)
    await setUnsafe(main[2] as L2Ref)
    await setUnsafe(side[1] as L2Ref)
    await setUnsafe(main[1] as L2Ref)
    expect(canonical(execution, 4)).toEqual([genesisId.hash, main[0]?.hash, main[1]?.hash, undefined])
    await setUnsafe(main[2] as L2Ref)
    expect(canonical(execution, 4)[3]).toBe(main[2]?.hash)
  })

  it('builds a block on a canonical block below the head', async () => {
    const { execution, grow, setUnsafe, build } = start()
    const main = (await grow(genesisId, 4)) as [L2Ref, L2Ref, L2Ref, L2Ref]
    await setUnsafe(main[3])
    const side = await build(main[1], [signedBy('alice', { value: 4n })], 1)
    expect(balanceOfTarget(execution, { number: 3, hash: side.blockHash })).toBe(4n)
    expect((await build(main[1])).blockHash).toBe(main[2].hash)
  })

  it.each([
    ['an unknown unsafe head', (main: L2Ref[]) => ({ unsafe: { ...main[0], hash: hashOf('nowhere') } })],
    ['a safe head above the unsafe one', (main: L2Ref[]) => ({ safe: main[3] })],
    ['a finalized head above the safe one', (main: L2Ref[]) => ({ finalized: main[2] })],
    [
      'a branch without the finalized head',
      (_main: L2Ref[], side: L2Ref[]) => ({ unsafe: side[1], safe: genesisId, finalized: genesisId }),
    ],
  ])('refuses %s and moves no head (INVALID_FORKCHOICE)', async (_case, fields) => {
    const { execution, grow, phases } = start()
    const main = (await grow(genesisId, 4)) as [L2Ref, L2Ref, L2Ref, L2Ref]
    const side = await grow(genesisId, 2, 1)
    const heads = { unsafe: main[2], safe: main[1], finalized: main[0] }
    await execution.setHeads(heads)
    const asked = { ...heads, ...(fields(main, side) as Partial<typeof heads>) }
    await expect(execution.setHeads(asked)).rejects.toSatisfy((error) => isFault(error, 'INVALID_FORKCHOICE'))
    expect(await execution.heads()).toEqual(heads)
    expect(phases).toEqual([])
  })

  it('freezes the published record and replaces it as a whole', async () => {
    const { execution, grow, setUnsafe } = start()
    const before = execution.published
    const [first] = (await grow(genesisId, 1)) as [L2Ref]
    await setUnsafe(first)
    expect(Object.isFrozen(before)).toBe(true)
    expect(before.heads.unsafe.number).toBe(0)
    expect(execution.published.heads.unsafe).toEqual(first)
  })
})
