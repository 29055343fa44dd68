import { describe, expect, it } from 'vitest'
import { fromHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { storeFault } from '#store/faults'
import { tables } from '#store/tables'
import { accountOf } from '#test/harness/chain/blocks'
import { Disk, genesisId, startCommitting } from '#test/harness/chain/committing'
import { testAddress } from '#test/harness/evm/sessions'
import { verifyProof } from '#trie/proof'
import type { L2Ref } from '#types/blockRef'
import type { Retention } from '#types/chainDistance'
import { Pruner } from './pruner.ts'

const fiveBlocks: Retention = { history: { blocks: 5 } }

/** Starts an execution with a retention. `extend` adds blocks to the chain, and finalizes the block with a number if the chain has it. */
function start(retention: Retention | undefined, disk = new Disk(), committing: 'here' | 'late' = 'here') {
  const started = startCommitting(disk, { retention }, undefined, undefined, committing)
  const { execution, clock } = started
  const extend = async (parent: L2Ref | typeof genesisId, count: number, finalized: number): Promise<L2Ref> => {
    const blocks = await started.grow(parent, count)
    const [unsafe, final] = [blocks.at(-1), blocks.find(({ number }) => number === finalized)]
    if (!unsafe) throw new Error('no block')
    await execution.setHeads({ ...(await execution.heads()), unsafe, ...(final && { safe: final, finalized: final }) })
    return unsafe
  }
  const commit = async (): Promise<void> => {
    execution.commit()
    await clock.advanceMs(10_000)
  }
  const oldest = (): { state: number; proof: number } => {
    using view = execution.view()
    return { state: view.oldestState, proof: view.oldestProof }
  }
  /** Numbers of the blocks whose state can be read. */
  const readable = (): number[] => {
    using view = execution.view()
    const numbers = Array.from({ length: view.heads.latest.number + 1 }, (_, number) => number)
    return numbers.filter((number) => view.state({ number, hash: view.canonicalHash(number) ?? expect.fail() }))
  }
  /** Blocks with rows of previous values. */
  const changed = (): number => {
    using reader = disk.snapshot()
    return new Set([...reader.keys(tables.changes.id, {})].map((key) => key[7])).size
  }
  return { ...started, extend, commit, oldest, readable, changed }
}

/** A clock whose turns the test runs. */
function turnsOf(elapsedMs: () => number) {
  const turns: (() => void)[] = []
  const after = (_: number, run: () => void): Disposable => {
    turns.push(run)
    return { [Symbol.dispose](): void {} }
  }
  return { turns, clock: { elapsedMs, after } }
}

describe('blockchain/pruning/pruner', () => {
  it('counts from the published chain while the blocks above it are unwound', async () => {
    const { execution, grow, clock, stored } = startCommitting(new Disk(), { retention: fiveBlocks, commitSliceMs: 0 })
    const refs = await grow(genesisId, 30)
    const setHeads = async (unsafe: number, finalized: number): Promise<void> => {
      const [head, final] = [refs[unsafe - 1], refs[finalized - 1]]
      await execution.setHeads(head && final ? { unsafe: head, safe: final, finalized: final } : expect.fail())
    }
    const oldest = (): number => {
      using view = execution.view()
      return view.oldestState
    }
    await setHeads(30, 4)
    execution.commit()
    await clock.advanceMs(10_000)
    expect(oldest()).toBe(4)
    await setHeads(12, 10)
    const unwinding = new Set<number>()
    while (await clock.advanceToNext()) if ((stored()[0] ?? 0) > 12) unwinding.add(oldest())
    expect([...unwinding]).toEqual([4, 7])
    expect(oldest()).toBe(7)
  })

  it.each(['here', 'late'] as const)('removes the states before the oldest kept one after a commit (committer: %s)', async (committing) => {
    const { extend, commit, readable, changed } = start(fiveBlocks, new Disk(), committing)
    const head = await extend(genesisId, 30, 29)
    expect(readable()).toHaveLength(31)
    await commit()
    expect(readable()).toEqual([25, 26, 27, 28, 29, 30])
    expect(changed()).toBe(30 - 25)
    await extend(head, 30, 59)
    await commit()
    expect(readable()[0]).toBe(55)
    expect(changed()).toBe(60 - 55)
  })

  it('keeps every state from the finalized block on', async () => {
    const { extend, commit, readable } = start(fiveBlocks)
    const head = await extend(genesisId, 40, 12)
    await commit()
    expect(readable()[0]).toBe(12)
    await extend(head, 3, 0)
    await commit()
    expect(readable()[0]).toBe(12)
  })

  it('counts a time back from the timestamp of the head, and keeps everything without a retention', async () => {
    const timed = start({ history: { sec: 20 } })
    await timed.extend(genesisId, 40, 39)
    await timed.commit()
    expect(timed.oldest().state).toBe(30)
    const whole = start(undefined)
    await whole.extend(genesisId, 40, 39)
    await whole.commit()
    expect(whole.oldest()).toEqual({ state: 0, proof: 0 })
  })

  it('keeps trie nodes at least an hour, so the states of the same time have proofs', async () => {
    const { extend, commit, oldest, execution } = start({ history: 'all', proofs: { blocks: 1 } })
    await extend(genesisId, 40, 39)
    await commit()
    expect(oldest()).toEqual({ state: 0, proof: 0 })
    using view = execution.view()
    const hash = view.canonicalHash(1) ?? expect.fail()
    const { stateRoot } = view.header(hash) ?? expect.fail()
    const proved = view.state({ number: 1, hash })?.prove(accountOf('alice'), []) ?? expect.fail()
    expect(verifyProof(stateRoot, keccak256(fromHex(accountOf('alice'))), proved.proof)).toMatchObject({ kind: 'present' })
  })

  it('leaves an open view its states, while a new view has fewer', async () => {
    const { extend, commit, execution, readable } = start(fiveBlocks)
    const head = await extend(genesisId, 40, 39)
    execution.commit()
    using held = execution.view()
    const block = { number: 1, hash: held.canonicalHash(1) ?? expect.fail() }
    const balance = held.state(block)?.account(testAddress(1))
    await extend(head, 20, 59)
    await commit()
    expect(readable()[0]).toBeGreaterThan(40)
    expect(held.state(block)?.account(testAddress(1))).toEqual(balance)
    expect(held.oldestState).toBe(0)
  })

  it('reports a last step also when its time ends with the last row', async () => {
    const { extend, commit, disk, changed } = start(undefined)
    // 64 rows of previous values to remove: a step looks at the time after 64 of them
    await extend(genesisId, 69, 68)
    await commit()
    let nowMs = 0
    // each look takes all the time of a step
    const { turns, clock } = turnsOf(() => (nowMs += 8))
    const isLast: boolean[] = []
    using pruner = new Pruner({
      ...{ kv: disk, clock, retention: fiveBlocks },
      onEvent: (event): void => void isLast.push('isLast' in event && event.isLast),
    })
    for (let i = 0; i < 500 && isLast.at(-1) !== true; i++) {
      // further blocks, without which steps end after two seconds
      pruner.committed(1)
      turns.shift()?.()
    }
    expect(changed()).toBe(5)
    expect(isLast.length).toBeGreaterThan(2)
    expect(isLast.indexOf(true)).toBe(isLast.length - 1)
  })

  it('removes the trie nodes of a bounded number of blocks in a step, however fast they are chosen', async () => {
    const { extend, commit, disk } = start(undefined)
    await extend(genesisId, 120, 119)
    await commit()
    const nodeRows = (): number => {
      using reader = disk.snapshot()
      return [...reader.keys(tables.nodeHistory.id, { to: Uint8Array.of(1) })].length
    }
    expect(nodeRows()).toBe(120)
    const { turns, clock } = turnsOf(() => 0)
    using pruner = new Pruner({ kv: disk, clock, retention: { history: { blocks: 5 }, proofs: { blocks: 5 } }, onEvent: () => {} })
    pruner.committed(1)
    const left: number[] = []
    for (let run = turns.shift(); run; run = turns.shift()) {
      run()
      left.push(nodeRows())
    }
    expect(left.slice(0, 3)).toEqual([72, 24, 5])
  })

  it('removes before it returns in a thread that only writes, in one step as long as the transaction', async () => {
    const { extend, commit, disk, changed } = start(undefined)
    await extend(genesisId, 120, 119)
    await commit()
    let [nowMs, steps] = [0, 0]
    const { clock } = turnsOf(() => ++nowMs)
    using pruner = new Pruner({ kv: disk, clock, retention: fiveBlocks, onEvent: () => void steps++ })
    const after = [0, 60, 1_000].map((ms) => {
      pruner.committed(ms, true)
      return { steps, left: changed() }
    })
    expect(after).toEqual([
      { steps: 1, left: 120 },
      { steps: 2, left: 120 },
      { steps: 3, left: 5 },
    ])
  })

  it('continues after a full disk with the next commit', async () => {
    const { extend, commit, oldest, disk, clock, execution } = start(fiveBlocks)
    const head = await extend(genesisId, 40, 39)
    execution.commit()
    disk.fails = storeFault('DISK_FULL', { dir: 'here', reason: 'a test' })
    await clock.advanceMs(10_000)
    expect(oldest().state).toBe(0)
    disk.fails = undefined
    await extend(head, 1, 0)
    await commit()
    expect(oldest().state).toBeGreaterThan(20)
  })

  it('removes more after a start with a shorter retention; after a longer one the oldest state stays', async () => {
    const disk = new Disk()
    const first = start({ history: { blocks: 20 } }, disk)
    const head = await first.extend(genesisId, 40, 39)
    await first.commit()
    expect(first.oldest().state).toBe(20)
    await first.execution.close()
    const second = start({ history: { blocks: 8 } }, disk)
    const next = await second.extend(head, 8, 47)
    await second.commit()
    expect(second.oldest().state).toBe(40)
    await second.execution.close()
    const third = start({ history: 'all' }, disk)
    await third.extend(next, 20, 60)
    await third.commit()
    expect(third.oldest().state).toBe(40)
    expect(third.readable()[0]).toBe(40)
  })
})
