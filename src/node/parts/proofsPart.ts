import { join } from 'node:path'
import type { ExecutionWorker } from '#executionThread/executionThread'
import type { Log } from '#lib/log'
import { proofsMetrics } from '#proofs/metrics'
import { startProofsThread } from '#proofs/proofsThread'
import type { Retention } from '#types/chainDistance'
import type { PartDeps } from '../nodeDeps.ts'
import type { ProofsOptions } from '../nodeOptions.ts'

/** The chain keeps trie nodes so long beside recorded proofs: a recorder that was off for less only copies. */
const chainNodesSec = 6 * 3_600
/** Time that recording may be behind the head of a node which requires proofs. */
const maxLagSec = 60

/** Recorded proofs of the node's chain. */
export interface ProofsPart extends AsyncDisposable {
  /** Returns why a node that requires proofs is not ready. */
  problems(): readonly string[]
  /** Updates the gauges; called before each read of the metrics. */
  collect(): void
}

/** Returns the retention of the chain beside recorded proofs, which replace a window of proofs in the chain. */
export function retentionBeside(retention: Retention | undefined, log: Log): Retention {
  const { history = 'all', proofs } = retention ?? {}
  if (proofs !== undefined && proofs !== 'all') log.info('--rpc.eth-proof-window has no effect: --proofs-history sets the window of proofs')
  return { history, proofs: { sec: chainNodesSec } }
}

/**
 * Starts to record proofs, and lets the readers of the chain use them.
 * @throws Fault of `startProofsThread` (fatal)
 */
export async function openProofs(
  { log, registry }: Pick<PartDeps, 'log' | 'registry'>,
  execution: Pick<ExecutionWorker, 'view' | 'readProofs'>,
  datadir: string,
  { dir, windowSec, windowBlocks, isRequired, stepPauseMs }: ProofsOptions,
): Promise<ProofsPart> {
  const metrics = proofsMetrics.register(registry)
  const own = log.child('proofs')
  if (windowBlocks !== undefined)
    own.info('the window of proofs is a time', { blocks: windowBlocks, days: Number((windowSec / 86_400).toFixed(2)) })
  const thread = await startProofsThread(
    {
      log,
      onStep({ recorded, unwound, computed, pruned, nodes, nodeBytes }): void {
        metrics.recorded.inc({}, recorded)
        metrics.unwound.inc({}, unwound)
        metrics.computed.inc({}, computed)
        metrics.pruned.inc({}, pruned)
        metrics.nodes.inc({}, nodes)
        metrics.nodeBytes.inc({}, nodeBytes)
      },
    },
    join(datadir, 'chain'),
    { dir, window: { sec: windowSec }, ...(stepPauseMs !== undefined && { stepPauseMs }) },
  )
  execution.readProofs(dir)
  function lagProblems(): readonly string[] {
    using view = execution.view()
    const { latest } = view.proofs?.window ?? {}
    if (latest === undefined) return ['no proofs are recorded yet']
    const [head, last] = [view.header(view.heads.latest.hash), view.header(latest.hash)]
    const lagSec = (head?.timestamp ?? 0) - (last?.timestamp ?? 0)
    return lagSec > maxLagSec ? [`proofs are recorded up to block ${latest.number}, ${lagSec} s behind the head`] : []
  }
  return {
    problems(): readonly string[] {
      if (!isRequired) return []
      const failure = thread.failure() ?? thread.retried()
      return failure ? [`proofs are not recorded: ${failure.message}`] : lagProblems()
    },
    collect(): void {
      using view = execution.view()
      const { window } = view.proofs ?? {}
      metrics.isRecording.set({}, thread.failure() ? 0 : 1)
      if (window === undefined) return
      metrics.earliest.set({}, window.earliest.number)
      metrics.latest.set({}, window.latest.number)
      metrics.lag.set({}, view.heads.latest.number - window.latest.number)
    },
    [Symbol.asyncDispose]: () => thread[Symbol.asyncDispose](),
  }
}
