import type { ExecutionConfig } from '#block/executionConfig'
import type { BlockTimes } from '#chainspec/blockTime'
import type { SimulationDeps } from '../simulationDeps.ts'

export type MeterDeps = Pick<SimulationDeps, 'execution' | 'evm' | 'clock'> & {
  readonly config: ExecutionConfig & BlockTimes
}

/** Measures a function. @returns its result and its duration in microseconds */
export function timed<T>(clock: MeterDeps['clock'], run: () => T): readonly [T, number] {
  const fromMs = clock.elapsedMs()
  const given = run()
  return [given, Math.round((clock.elapsedMs() - fromMs) * 1_000)]
}
