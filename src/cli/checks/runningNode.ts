import { type Endpoint, endpointOf } from '#lib/endpoint'
import { reasonOf } from '#node/health/readinessReasons'
import { type NodeAddress, pageOf } from '../localNode/nodeAddress.ts'
import { readReady } from '../localNode/nodeClient.ts'
import type { Finding } from './finding.ts'
import type { ProbeDeps } from './probe.ts'

/** @param isRunning a node of Basalt answers */
export type RunningReport = { readonly isRunning: boolean; readonly findings: readonly Finding[] }

/** Reads the health page of a node that runs on this machine; each reason why it is not ready is a finding. */
export async function checkRunning(deps: ProbeDeps, { rpc, pages }: NodeAddress): Promise<RunningReport> {
  const endpoints: readonly Endpoint[] = [...pages.map((page) => pageOf(page, '/readyz')), endpointOf(new URL('/readyz', rpc.url))]
  for (const endpoint of endpoints) {
    const page = await readReady(deps, endpoint)
    if (page.kind === 'silent') continue
    const findings = page.value.problems.map(
      (what): Finding => ({
        level: 'warning',
        where: `node at ${endpoint.name}`,
        what: `not ready: ${what}`,
        fix: reasonOf(what)?.fix ?? 'look for the reason in the log of the node',
      }),
    )
    return { isRunning: true, findings }
  }
  return { isRunning: false, findings: [] }
}
