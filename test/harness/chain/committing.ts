import { expect } from 'vitest'
import { readHeads, readHeadsSequence } from '#blockchain/chainStore'
import { createExecution } from '#blockchain/execution'
import type { ExecutionOptions } from '#blockchain/executionDeps'
import type { HeadRecord } from '#blockchain/heads/headRecord'
import { l2RefOf } from '#chainspec/l2Ref'
import type { Evm } from '#evm/ports'
import { createWasmEvm } from '#evm/wasmEvm'
import type { Clock } from '#lib/clock'
import { silentLog } from '#lib/log'
import { type MemoryGuard, unboundedMemory } from '#lib/memoryGuard'
import { createMemoryJournal } from '#store/memoryJournal'
import type { JournalRecord, Kv, KvWriter } from '#store/ports'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import type { BlockId, L2Ref } from '#types/blockRef'
import { createManualClock } from '../clock.ts'
import { attributesAt, scheduleTo, signedBy, smallChain } from './blocks.ts'
import { LateCommitter } from './lateCommitter.ts'

const schedule = scheduleTo('isthmus')
const { genesis, config } = smallChain(schedule)
export const committingConfig = config
export const genesisId: BlockId = config.genesis.l2

/** Store whose free room and write errors are set by a test, with callbacks immediately before and after each write. */
export class Disk implements Kv {
  readonly inner = createMemoryKv()
  free = 1_000
  fails: Error | undefined
  around: (() => void) | undefined

  write<T>(run: (tx: KvWriter) => T): T {
    this.around?.()
    const result = this.inner.write((tx) => {
      const value = run(tx)
      if (this.fails) throw this.fails
      return value
    })
    this.around?.()
    return result
  }
  snapshot(): ReturnType<Kv['snapshot']> {
    return this.inner.snapshot()
  }
  freeBytes(): number {
    return this.free
  }
  async [Symbol.asyncDispose](): Promise<void> {}
}

/** Starts an execution on a disk and records its events and calls. */
export function startCommitting(
  disk = new Disk(),
  opts: ExecutionOptions = {},
  segments = new Map<number, JournalRecord[]>(),
  maxSegmentBytes?: number,
  committing: 'here' | 'late' = 'here',
  memory: Pick<MemoryGuard, 'onChange'> = unboundedMemory,
) {
  const manual = createManualClock()
  /** Time that each block, and each transaction, takes; the clock does not move otherwise. */
  const pace = { executionMs: 0, commitMs: 0 }
  let extraMs = 0
  const evm = createWasmEvm()
  const slow: Evm = {
    open: (...args) => {
      extraMs += pace.executionMs
      return evm.open(...args)
    },
  }
  const clock: Clock = { ...manual, nowMs: () => manual.nowMs() + extraMs, elapsedMs: () => manual.elapsedMs() + extraMs }
  const events: string[] = []
  const records: HeadRecord[] = []
  const late = committing === 'late' ? new LateCommitter(disk, clock) : undefined
  const execution = createExecution(
    {
      kv: disk,
      ...(late && { committer: late }),
      journal: createMemoryJournal(segments, maxSegmentBytes),
      evm: slow,
      config,
      genesis: () => genesis,
      clock,
      memory,
      log: silentLog,
      onCommit: (phase) => {
        events.push(phase)
        if (phase === 'end') extraMs += pace.commitMs
      },
      onExecuted: ({ header }) => void events.push(`executed ${header.number}`),
      onPublish: (record) => {
        records.push(record)
        events.push(`published ${record.heads.unsafe.number} above ${record.base.number}`)
      },
    },
    opts,
  )
  const grow = async (parent: BlockId, count: number, branch = 0): Promise<L2Ref[]> => {
    const refs: L2Ref[] = []
    for (let i = 0; i < count; i++) {
      const below = refs.at(-1) ?? parent
      const transactions = branch === 0 ? [] : [signedBy('alice', { value: BigInt(branch), nonce: BigInt(i) })]
      const built = await execution.build(below, attributesAt(schedule, below.number + 1, transactions, branch))
      if (built.kind === 'invalid') throw new Error(built.reason)
      refs.push(l2RefOf(config, built.payload))
    }
    return refs
  }
  const setUnsafe = async (unsafe: L2Ref | undefined): Promise<void> => {
    if (!unsafe) throw new Error('no block')
    await execution.setHeads({ ...(await execution.heads()), unsafe })
  }
  const committed = (): number => {
    using view = execution.view()
    void view
    return execution.published.committed.number
  }
  /** Block numbers of the stored labels, and the stored sequence, as a restart reads them. */
  const stored = (): number[] => {
    using reader = disk.snapshot()
    const { unsafe, safe, finalized } = readHeads(reader) ?? expect.fail()
    return [unsafe.number, safe.number, finalized.number, readHeadsSequence(reader)]
  }
  return { execution, late, disk, segments, pace, clock: manual, events, records, grow, setUnsafe, committed, stored }
}
