import type { Clock } from '#lib/clock'
import type { Log } from '#lib/log'
import type { Readiness } from '#rpc/ports'
import { firstStartProblem } from './health/health.ts'
import { type HealthServer, startHealthServer } from './health/healthServer.ts'
import type { NodeOptions } from './nodeOptions.ts'

/** The health port during a first start, which may take hours: alive, and not ready. Disposing closes the server. */
export interface FirstStartHealth extends AsyncDisposable {
  /** for `startNode`, which takes it over and closes it; undefined: --health.port is off */
  readonly server: HealthServer | undefined
  /** Replaces the step that `/readyz` names. */
  show(step: string): void
}

/** @param step first step that `/readyz` names @throws Fault PORT_IN_USE, LISTEN_FAILED (fatal) */
export async function openFirstStartHealth(
  { clock, log }: { readonly clock: Clock; readonly log: Log },
  { listen: { health: listen }, version }: Pick<NodeOptions, 'listen' | 'version'>,
  step: string,
): Promise<FirstStartHealth> {
  let problems = [firstStartProblem(step)]
  const readiness = (): Readiness => ({ problems })
  const server = listen && (await startHealthServer({ clock, log: log.child('health'), readiness }, { listen, version }))
  return {
    server,
    show(next): void {
      problems = [firstStartProblem(next)]
    },
    [Symbol.asyncDispose]: async () => await server?.[Symbol.asyncDispose](),
  }
}
