import { Registry } from 'prom-client'
import type { ProposalContracts } from '#chainspec/networks'
import type { RollupConfig } from '#chainspec/rollupConfig'
import { headerOfPayload } from '#engine/payloadHeader'
import { createL1Source, defaultL1Options } from '#l1/l1Source'
import { l1Metrics } from '#l1/metrics'
import type { Clock } from '#lib/clock'
import type { Log } from '#lib/log'
import { defaultBackoff, type Random, retry } from '#lib/retry'
import { snapshotFault } from '#snapshot/faults'
import type { TrustPort } from '#snapshot/trustPort'
import { trustMetrics } from '#trust/metrics'
import { createTrust } from '#trust/trust'
import type { Header } from '#types/header'
import type { Evidence, Grade } from '#types/trust'
import { openSourceNode } from './sourceNode.ts'

export type SnapshotTrustDeps = { readonly fetch: typeof fetch; readonly clock: Clock; readonly random: Random; readonly log: Log }

export type SnapshotTrustOptions = {
  readonly config: RollupConfig
  /** weakest accepted grade */
  readonly required: Grade
  /** two L1 endpoints of different hosts, or more */
  readonly l1Urls: readonly string[]
  /** node that supplies the headers between the block and the next one of which L1 has an output root; absent: L1 must have that of the block itself */
  readonly l2Url?: string | undefined
  /** absent: those of the built-in chain */
  readonly contracts?: ProposalContracts
}

/** Tries of a read of L1, over about a minute. */
const maxTries = 8

/** Grades the block of a snapshot by the proposals on L1, before anything of the snapshot is loaded. Throws Fault SNAPSHOT_UNTRUSTED, those of L1 (retry). */
export function createSnapshotTrust(
  deps: SnapshotTrustDeps,
  { config, required, l1Urls, l2Url, contracts }: SnapshotTrustOptions,
): TrustPort {
  const registry = new Registry()
  const [l1Meter, metrics] = [l1Metrics.register(registry), trustMetrics.register(registry)]

  async function links(from: number, to: number, signal: AbortSignal): Promise<readonly Header[]> {
    if (l2Url === undefined) return []
    using node = openSourceNode(deps, config, l2Url)
    const headers: Header[] = []
    for (let next = from; next <= to; ) {
      const payloads = await node.payloads(next, to - next + 1, signal)
      if (payloads.length === 0) break
      for (const payload of payloads) headers.push(headerOfPayload(config.schedule, payload))
      next += payloads.length
    }
    return headers
  }

  return {
    async verifyHeader(header, hash, signal): Promise<Evidence> {
      const { l1 } = config.genesis
      using source = createL1Source(
        { ...deps, metrics: l1Meter },
        { ...defaultL1Options, rpcUrls: l1Urls, beaconUrls: [], chainId: config.l1ChainId, genesis: l1 },
      )
      const trust = createTrust({ ...deps, witnesses: source.witnesses, metrics }, { config, required, ...(contracts && { contracts }) })
      const verdict = await retry(deps, { backoff: defaultBackoff, signal, maxTries }, (each) => trust.verifyHeader(header, links, each))
      if (verdict.kind === 'trusted') return verdict.record
      throw snapshotFault('SNAPSHOT_UNTRUSTED', { number: header.number, hash, reason: `${verdict.reason}; ${verdict.fix}` })
    },
  }
}
