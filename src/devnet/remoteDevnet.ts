import { z } from 'zod'
import type { Clock } from '#lib/clock'
import type { Fetch } from '#lib/jsonHttp'
import { ShapeError } from '#types/jsonShape'
import { revertText } from './b20/revertText.ts'
import type { DevnetFacts } from './control.ts'
import { devnetFault } from './faults.ts'
import { askRpc } from './l1/devnetRpc.ts'

export type RemoteDeps = { readonly fetch: Fetch; readonly clock: Clock; readonly signal: AbortSignal }

/** Calls one endpoint and returns the result parsed by `parse`. */
export type Ask = <T>(method: string, params: readonly unknown[], parse: (result: unknown) => T) => Promise<T>

/** Devnet in another process, accessed by RPC only. */
export type RemoteDevnet = {
  readonly facts: DevnetFacts
  readonly l1: Ask
  readonly l2: Ask
  readonly rollup: Ask
  readonly control: Ask
  /**
   * Polls until `look` returns a value.
   * @param what name of the awaited event, for the fault
   * @throws Fault DEVNET_WAITED (fatal); the reason of an abort
   */
  until<T>(what: string, look: () => Promise<T | undefined>): Promise<T>
}

const lookEveryMs = 200
/** Time limit of a wait: the longest fault ends within ten minutes. */
const patienceMs = 600_000

/** Creates a client of an endpoint. @throws Fault CALL_REVERTED, DEVNET_RPC (fatal) on an error, or without a valid response */
function askingOf({ fetch, clock, signal }: RemoteDeps, url: string): Ask {
  return async (method, params, parse) => {
    const outcome = await askRpc({ fetch, clock }, url, method, params, signal)
    const revert = outcome.kind === 'error' ? revertText(outcome.data) : undefined
    if (revert !== undefined) throw devnetFault('CALL_REVERTED', { error: revert })
    if (outcome.kind === 'error') throw devnetFault('DEVNET_RPC', { url, method, reason: outcome.message })
    if (outcome.kind === 'unreachable') throw devnetFault('DEVNET_RPC', { url, method, reason: outcome.reason })
    try {
      return parse(outcome.result)
    } catch (error) {
      if (!(error instanceof ShapeError)) throw error
      throw devnetFault('DEVNET_RPC', { url, method, reason: error.message }, error)
    }
  }
}

async function untilThere<T>({ clock, signal }: RemoteDeps, what: string, look: () => Promise<T | undefined>): Promise<T> {
  const beganMs = clock.elapsedMs()
  for (;;) {
    const found = await look()
    if (found !== undefined) return found
    if (clock.elapsedMs() - beganMs > patienceMs) throw devnetFault('DEVNET_WAITED', { what, seconds: patienceMs / 1_000 })
    await clock.delay(lookEveryMs, signal)
  }
}

const text = z.string()
const factsSchema: z.ZodType<DevnetFacts> = z.looseObject({
  urls: z.looseObject({
    rpc: text,
    ws: text,
    rollup: text,
    l1: text,
    l1Beacon: text,
    verifier: text,
    verifierWs: text,
    control: text,
    flashblocks: text.exactOptional(),
  }),
  chainId: z.int(),
  l1ChainId: z.int(),
  blockTimeSec: z.number(),
  l1BlockTimeSec: z.number(),
  accounts: z.array(text),
  owner: text,
  contracts: z.looseObject({ portal: text, systemConfig: text }),
})

/**
 * Connects to the devnet with this control port.
 * @throws Fault DEVNET_NOT_RUNNING (fatal)
 */
export async function connectDevnet(deps: RemoteDeps, controlUrl: string): Promise<RemoteDevnet> {
  const outcome = await askRpc(deps, controlUrl, 'devnet_info', [], deps.signal)
  if (outcome.kind !== 'result') {
    const reason = outcome.kind === 'error' ? outcome.message : outcome.reason
    throw devnetFault('DEVNET_NOT_RUNNING', { url: controlUrl, reason })
  }
  const { data: facts } = factsSchema.safeParse(outcome.result)
  if (facts === undefined)
    throw devnetFault('DEVNET_NOT_RUNNING', { url: controlUrl, reason: 'the response to devnet_info has no facts of a devnet' })
  return {
    facts,
    l1: askingOf(deps, facts.urls.l1),
    l2: askingOf(deps, facts.urls.rpc),
    rollup: askingOf(deps, facts.urls.rollup),
    control: askingOf(deps, controlUrl),
    until: (what, look) => untilThere(deps, what, look),
  }
}
