import { timestampOf } from '#chainspec/blockTime'
import { l2RefOf } from '#chainspec/l2Ref'
import type { RollupConfig } from '#chainspec/rollupConfig'
import type { Heads, InsertResult } from '#engine/port'
import type { Clock } from '#lib/clock'
import { Fault, isFault } from '#lib/fault'
import type { Log } from '#lib/log'
import type { L2Ref } from '#types/blockRef'
import type { Hash } from '#types/ids'
import type { Payload } from '#types/payload'
import type { EngineCalls } from '../engineCalls.ts'
import { consensusFault } from '../faults.ts'
import type { ForkGate } from '../forkGate.ts'
import type { L1Trail } from '../l1Trail.ts'
import type { ConsensusMetrics } from '../metrics.ts'
import type { UnsafeOutcome } from '../ports.ts'
import { Refusals } from '../refusals.ts'
import { TaskQueue } from '../taskQueue.ts'
import { planInsert, runInsert } from './insert.ts'

/** Parts of the engine queue that inserts of unsafe blocks use. */
export type UnsafeInsertsDeps = {
  readonly config: RollupConfig
  readonly labels: 'l1' | 'source'
  readonly log: Log
  readonly clock: Clock
  readonly metrics: Pick<ConsensusMetrics, 'unsafe'>
  readonly tasks: TaskQueue
  readonly calls: EngineCalls
  readonly trail: L1Trail
  readonly forks: Pick<ForkGate, 'refuse'>
  readonly known: (signal: AbortSignal) => Promise<Heads>
  readonly setHeads: (heads: Heads, signal: AbortSignal) => Promise<void>
  readonly onLost: (fault: Fault, signal: AbortSignal) => Promise<void>
  /** Repeats a call while it fails with ENGINE_LOST. */
  readonly untilAnswered: <T>(signal: AbortSignal, run: () => Promise<T>) => Promise<T>
}

/** Maximum number of unfinished inserts; further ones are refused. */
const maxWaitingInserts = 64

/**
 * Inserts offered unsafe blocks on the unsafe chain, one offer after the other. An attempt that the engine does not answer is repeated as a new task,
 * so that other tasks run in between. An attempt that finds the engine's heads lost reads them again and reports a gap.
 */
export class UnsafeInserts {
  readonly #deps: UnsafeInsertsDeps
  readonly #refusals: Refusals
  /** runs one insert after the other, because a later one may build on the earlier ones */
  readonly #offers = new TaskQueue()
  #inserts = 0

  constructor(deps: UnsafeInsertsDeps) {
    this.#deps = deps
    this.#refusals = new Refusals(deps.clock)
  }

  async insert(payloads: readonly Payload[], signal: AbortSignal): Promise<UnsafeOutcome> {
    if (this.#inserts >= maxWaitingInserts) return this.#report({ kind: 'refused', reason: 'too many payloads are waiting' }, payloads)
    this.#inserts++
    try {
      return this.#report(await this.#offers.run('insert', signal, () => this.#insertInTurns(payloads, signal)), payloads)
    } finally {
      this.#inserts--
    }
  }

  #insertInTurns(payloads: readonly Payload[], signal: AbortSignal): Promise<UnsafeOutcome> {
    const { tasks, calls, untilAnswered } = this.#deps
    const task = (): Promise<UnsafeOutcome> => tasks.run('insert', signal, () => this.#insert(payloads, signal))
    return untilAnswered(signal, () => calls.insertAgain(signal, task))
  }

  async #insert(payloads: readonly Payload[], signal: AbortSignal): Promise<UnsafeOutcome> {
    for (;;) {
      try {
        return await this.#insertOnce(payloads, signal)
      } catch (error) {
        if (!(error instanceof Fault) || error.severity !== 'reset') throw error
        await this.#deps.onLost(error, signal)
        if (!isFault(error, 'ENGINE_LOST')) return gapBelow(payloads)
      }
    }
  }

  async #insertOnce(payloads: readonly Payload[], signal: AbortSignal): Promise<UnsafeOutcome> {
    const { config, labels, trail, calls, forks } = this.#deps
    const heads = await this.#deps.known(signal)
    const floor = (labels === 'l1' ? heads.safe : heads.finalized).number
    const plan = await calls.read(signal, (engine) => planInsert(engine, heads, floor, payloads))
    if (plan.kind === 'known') return { kind: 'inserted', head: heads.unsafe }
    if (plan.kind !== 'insert') return plan
    // before the forks are asked: only a block at its due time may end the node
    const untimely = payloads.find(({ blockNumber, timestamp }) => timestamp !== timestampOf(config, blockNumber))
    if (untimely) return { kind: 'refused', reason: `block ${untimely.blockNumber} does not have its due time` }
    const insert = async (payload: Payload): Promise<InsertResult> => {
      forks.refuse(payload.timestamp)
      return await calls.insertOnce(signal, (port) => port.insert(payload))
    }
    const refusalOf = (hash: Hash): string | undefined => this.#refusals.get(hash)
    const run = await runInsert({ engine: { insert }, config, refusalOf, trail }, payloads.slice(plan.from), signal)
    const isExtension = plan.fork === heads.unsafe.number
    if (run.last && (run.kind === 'done' || isExtension)) await this.#extend(run.last, plan.fork, heads, signal)
    switch (run.kind) {
      case 'done':
        return { kind: 'inserted', head: run.last }
      case 'invalid':
        this.#refusals.add(run.payload.blockHash, run.reason)
        return { kind: 'invalid', number: run.payload.blockNumber, reason: run.reason }
      case 'gap':
        if (run.missing.hash === heads.unsafe.hash) await this.#deps.onLost(consensusFault('HEAD_LOST', run.missing), signal)
        return { kind: 'gap', missing: run.missing }
      case 'refused':
        return { kind: 'refused', reason: run.reason }
    }
  }

  /** Makes an inserted block the unsafe head. Without L1, a branch may fork below the safe head, which is then lowered. */
  async #extend(unsafe: L2Ref, fork: number, heads: Heads, signal: AbortSignal): Promise<void> {
    if (fork < heads.unsafe.number) {
      this.#deps.log.warn('unsafe chain replaced', { from: fork + 1, blocks: heads.unsafe.number - fork, head: unsafe.number })
    }
    const payload = fork < heads.safe.number ? await this.#deps.calls.read(signal, (engine) => engine.payload(fork)) : undefined
    const safe = payload ? l2RefOf(this.#deps.config, payload) : heads.safe
    await this.#deps.setHeads({ unsafe, safe, finalized: heads.finalized }, signal)
  }

  #report(outcome: UnsafeOutcome, payloads: readonly Payload[]): UnsafeOutcome {
    const { metrics, log } = this.#deps
    metrics.unsafe.inc({ outcome: outcome.kind }, outcome.kind === 'inserted' ? payloads.length : 1)
    const first = payloads[0]?.blockNumber
    if (outcome.kind === 'invalid') log.warn('unsafe block invalid', { number: outcome.number, reason: outcome.reason })
    if (outcome.kind === 'refused') log.warn('unsafe blocks refused', { from: first, reason: outcome.reason })
    return outcome
  }
}

function gapBelow([first]: readonly Payload[]): UnsafeOutcome {
  if (first === undefined) return { kind: 'refused', reason: 'no payload' }
  return { kind: 'gap', missing: { hash: first.parentHash, number: first.blockNumber - 1 } }
}
