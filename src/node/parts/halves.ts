import type { Engine } from '#engine/port'
import type { ExecutionPeers } from '#executionPeers/executionPeers'
import { aborted } from '#lib/abortable'
import { endpointOf, type NodeOptions } from '../nodeOptions.ts'
import type { SendersBy } from '../tracing/tracing.ts'
import { type ConsensusHalf, type ConsensusHalfDeps, openConsensusHalf } from './consensusHalf.ts'
import { type ExecutionHalf, type ExecutionHalfDeps, openExecutionHalf } from './executionHalf.ts'
import { openExecutionPeers } from './executionPeersPart.ts'
import { advertisedAt, openPortMapping } from './portMappingPart.ts'
import { createRemoteAncestors } from './remoteAncestors.ts'
import { openRemoteEngine, runApart } from './remoteEngine.ts'
import { openTrust, type TrustPart } from './trustPart.ts'

export type HalvesDeps = Omit<ConsensusHalfDeps, 'engine'> & ExecutionHalfDeps

/** The halves that run in this process. Disposing closes their stores. */
export interface Halves extends AsyncDisposable {
  /** undefined in consensus mode */
  readonly execution: ExecutionHalf | undefined
  /** undefined in execution mode */
  readonly consensus: ConsensusHalf | undefined
  /** undefined: there are no execution peers */
  readonly executionPeers: ExecutionPeers | undefined
  /** undefined in consensus mode */
  readonly trust: TrustPart | undefined
  /** the execution half of this process, or of another one */
  readonly engine: Engine
  /** Runs consensus until the signal is aborted; without consensus, waits for that. @throws as `ConsensusHalf.run` does */
  run(signal: AbortSignal): Promise<void>
}

/** Returns the last block with recorded proofs. */
function lastRecorded(execution: ExecutionHalf['execution']): number | undefined {
  using view = execution.view()
  return view.proofs?.window?.latest.number
}

/**
 * Opens the halves of the node's mode, execution first.
 * @param stop ends unanswered calls of an execution half in another process
 * @throws Fault of the half that cannot start (all fatal)
 */
export async function openHalves(deps: HalvesDeps, given: NodeOptions, stop: AbortSignal): Promise<Halves> {
  const { config, mode } = given
  await using opening = new AsyncDisposableStack()
  const mapping = opening.use(await openPortMapping(deps, given))
  const options = advertisedAt(mapping?.externalAddress, given)
  const execution = mode === 'consensus' ? undefined : opening.use(await openExecutionHalf(deps, options))
  const { executionPeers: peersOptions } = options
  const executionPeers =
    execution &&
    peersOptions &&
    opening.use(await openExecutionPeers({ ...deps, execution: execution.execution }, { ...options, executionPeers: peersOptions }))
  const endpoint = endpointOf(options)
  const remote = endpoint && openRemoteEngine(deps, endpoint, config, stop)
  const plain = execution?.execution ?? remote
  if (plain === undefined) throw new RangeError('a node without an execution half')
  const senders = execution && ((): SendersBy => execution.senders())
  const engine = deps.tracing?.engine(plain, 'followed-node', senders) ?? plain
  const proofs = options.proofs && execution
  const recorded = proofs && ((): number | undefined => lastRecorded(proofs.execution))
  const ancestors = remote ? createRemoteAncestors(remote, deps.clock) : executionPeers
  const consensus =
    mode === 'execution'
      ? undefined
      : opening.use(
          await openConsensusHalf(
            { ...deps, engine, ...(ancestors && { ancestors }), ...(execution && { expected: execution.expected }) },
            { ...options, ...(endpoint && { endpoint }), ...(recorded && { recorded }) },
          ),
        )
  const trust =
    execution && opening.use(openTrust({ ...deps, execution: execution.execution, witnesses: consensus?.witnesses ?? [] }, options))
  const kept = opening.move()
  return {
    execution,
    consensus,
    executionPeers,
    trust,
    engine,
    run(signal): Promise<void> {
      if (consensus === undefined) return aborted(signal)
      return remote ? runApart(deps, remote, consensus, signal) : consensus.run(signal)
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}
