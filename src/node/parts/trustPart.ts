import type { ExecutionWorker } from '#executionThread/executionThread'
import { isRetryable } from '#lib/retry'
import { type TrustMetrics, trustMetrics } from '#trust/metrics'
import type { L1Witness } from '#trust/ports'
import { createTrust } from '#trust/trust'
import type { Header } from '#types/header'
import { grades, meetsGrade, type TrustRecord } from '#types/trust'
import type { PartDeps } from '../nodeDeps.ts'
import type { NodeOptions } from '../nodeOptions.ts'

/** The start has more urgent work. */
const firstAfterMs = 10_000
const everyMs = 600_000
const againMs = 60_000

/** Trust in the block on which the state of the node begins. Disposing ends the reads of L1. */
export interface TrustPart extends Disposable {
  record(): TrustRecord
  /** Returns why the node is not ready: the block has a lower grade than the demanded one. */
  problems(): readonly string[]
}

export type TrustPartDeps = Pick<PartDeps, 'clock' | 'log' | 'registry'> & {
  readonly execution: Pick<ExecutionWorker, 'view'>
  /** empty: L1 is not read, and the grade stays */
  readonly witnesses: readonly L1Witness[]
}

/**
 * Watches the grade of the block on which the state begins: shows it, and reads L1 at intervals until the block is anchored. The higher grade is not
 * stored, because each start reads L1 again. A refusal later on is a warning: the grade was given at a finalized L1 block.
 */
export function openTrust(
  deps: TrustPartDeps,
  { config, trustRequired = 'attested' }: Pick<NodeOptions, 'config' | 'trustRequired'>,
): TrustPart {
  const { clock, execution, witnesses } = deps
  const log = deps.log.child('trust')
  const metrics = trustMetrics.register(deps.registry)
  const trust = createTrust({ witnesses, clock, log, metrics }, { config, required: 'attested' })
  const stop = new AbortController()
  let record = baseOf(execution)
  let refusal = ''
  /** whether the last read lacked headers of blocks that this node will execute soon */
  let lacksHeaders = false
  let timer: Disposable | undefined
  showGrade(metrics, record)
  log.info('state of this node begins', shown(record))

  /** Returns the headers that the node has executed after the block. */
  const links = async (from: number, to: number): Promise<readonly Header[]> => {
    using view = execution.view()
    const headers: Header[] = []
    for (let number = from; number <= to; number++) {
      const hash = view.canonicalHash(number)
      const header = hash && view.header(hash)
      if (!header) break
      headers.push(header)
    }
    lacksHeaders = headers.length < to - from + 1
    return headers
  }

  /** @returns milliseconds until the next read */
  async function readL1(header: Header): Promise<number> {
    lacksHeaders = false
    try {
      const verdict = await trust.verifyHeader(header, links, stop.signal)
      if (verdict.kind === 'refused' && lacksHeaders) {
        refusal = verdict.reason
        return againMs
      }
      if (verdict.kind === 'refused') {
        refusal = verdict.reason
        log.warn('L1 does not vouch for the block on which the state begins', {
          ...shown(record),
          reason: verdict.reason,
          fix: verdict.fix,
        })
      } else if (verdict.record.grade !== record.grade && meetsGrade(verdict.record.grade, record.grade)) {
        record = verdict.record
        showGrade(metrics, record)
        log.info('trust in the block on which the state begins has a higher grade', shown(record))
      }
      return everyMs
    } catch (error) {
      if (stop.signal.aborted) return everyMs
      if (!isRetryable(error)) throw error
      refusal = error.message
      log.warn('trust in the block on which the state begins could not be read from L1', {
        code: error.code,
        says: error.message,
        fix: error.fix,
      })
      return againMs
    }
  }

  function plan(ms: number): void {
    if (witnesses.length === 0 || stop.signal.aborted || meetsGrade(record.grade, 'anchored')) return
    const header = headerOf(execution, record)
    if (header === undefined) return
    const failed = (error: unknown): void => log.error('trust in the block on which the state begins is not read any more', { error })
    timer = clock.after(ms, () => void readL1(header).then(plan).catch(failed))
  }
  plan(firstAfterMs)

  return {
    record: () => record,
    problems(): readonly string[] {
      if (meetsGrade(record.grade, trustRequired)) return []
      const { block, grade } = record
      const why = refusal === '' ? '' : `: ${refusal}`
      return [`the state begins with block ${block.number}, which is ${grade}, --trust.require demands ${trustRequired}${why}`]
    },
    [Symbol.dispose](): void {
      stop.abort()
      timer?.[Symbol.dispose]()
    },
  }
}

function baseOf(execution: Pick<ExecutionWorker, 'view'>): TrustRecord {
  using view = execution.view()
  return view.base
}

function headerOf(execution: Pick<ExecutionWorker, 'view'>, { block }: TrustRecord): Header | undefined {
  using view = execution.view()
  return view.header(block.hash)
}

function showGrade(metrics: TrustMetrics, record: TrustRecord): void {
  for (const grade of grades) metrics.grade.set({ grade }, grade === record.grade ? 1 : 0)
}

const shown = ({ block, grade, l1, game }: TrustRecord): Record<string, string | number> => ({
  ...{ number: block.number, hash: block.hash, trust: grade },
  ...(l1 && { l1Block: l1.number }),
  ...(game && { proposal: game }),
})
