import type { Execution } from '#blockchain/execution'
import type { RollupConfig } from '#chainspec/rollupConfig'
import type { Evm } from '#evm/ports'
import type { TracedEvm } from '#evm/wasmEvm'
import type { Clock } from '#lib/clock'

/** Dependencies of all simulations. */
export type SimulationDeps = {
  readonly execution: Pick<Execution, 'view'>
  readonly evm: Evm
  readonly traced: TracedEvm
  readonly config: RollupConfig
  readonly clock: Pick<Clock, 'elapsedMs'>
  /** approximate maximum size of the trace of one transaction; absent: the tracer's */
  readonly maxTraceBytes?: number
}
