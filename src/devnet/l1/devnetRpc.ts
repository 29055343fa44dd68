import type { Clock } from '#lib/clock'
import { type Fetch, failureReason, requestJson } from '#lib/jsonHttp'
import { devnetFault } from '../faults.ts'

export type DevnetRpcDeps = { readonly fetch: Fetch; readonly clock: Clock }

/** Outcome of a JSON-RPC call; `unreachable`: there was no JSON-RPC response. `data` of an error is not checked. */
export type RpcOutcome =
  | { readonly kind: 'result'; readonly result: unknown }
  | { readonly kind: 'error'; readonly code: number; readonly message: string; readonly data: unknown }
  | { readonly kind: 'unreachable'; readonly reason: string }

const limits = { timeoutMs: 20_000, maxBodyBytes: 16_777_216 }

/** Sends one call, without retry. @throws the signal's reason when it is aborted */
export async function askRpc(
  deps: DevnetRpcDeps,
  url: string,
  method: string,
  params: readonly unknown[],
  signal?: AbortSignal,
): Promise<RpcOutcome> {
  const outcome = await requestJson(deps, limits, { url, body: { jsonrpc: '2.0', id: 1, method, params } }, signal)
  if (outcome.kind !== 'answer') return { kind: 'unreachable', reason: failureReason(outcome) }
  const { result, error } = (outcome.json ?? {}) as { result?: unknown; error?: { code?: unknown; message?: unknown; data?: unknown } }
  if (error) {
    return { kind: 'error', code: Number(error.code ?? 0), message: String(error.message ?? '').slice(0, 500), data: error.data }
  }
  return result === undefined ? { kind: 'unreachable', reason: `HTTP ${outcome.status} without a result` } : { kind: 'result', result }
}

/**
 * Creates a client of the devnet's own L1.
 * @throws Fault DEVNET_L1_REFUSED (fatal) on an error; DEVNET_L1_SILENT (retry) when there is no response
 */
export function createDevnetRpc(deps: DevnetRpcDeps, url: string): (method: string, params: readonly unknown[]) => Promise<unknown> {
  return async (method, params) => {
    const outcome = await askRpc(deps, url, method, params)
    if (outcome.kind === 'result') return outcome.result
    if (outcome.kind === 'error') throw devnetFault('DEVNET_L1_REFUSED', { method, message: outcome.message })
    throw devnetFault('DEVNET_L1_SILENT', { method, reason: outcome.reason })
  }
}
