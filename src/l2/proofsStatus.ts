import { type JsonHttpDeps, requestJson } from '#lib/jsonHttp'
import { objectOf, ShapeError } from '#types/jsonShape'
import { l2Fault } from './faults.ts'

/** Last block for which the execution half has recorded proofs; undefined before the first one. */
export type RecordedProofs = { readonly latest: number | undefined }

export type ProofsEndpoint = {
  /** JSON-RPC or Engine API of the execution half */
  readonly url: string
  /** returns the headers of a request; a JWT is new each time */
  readonly headers: () => Readonly<Record<string, string>>
  readonly timeoutMs: number
}

const methodNotFound = -32_601
const maxBodyBytes = 65_536

function latestIn(json: unknown): number | undefined {
  const { error, result } = objectOf(json, 'answer')
  if (error != null) {
    const { code } = objectOf(error, 'error')
    if (Number(code) === methodNotFound) throw l2Fault('PROOFS_NOT_RECORDED', {})
    throw new ShapeError(`error ${Number(code)}`)
  }
  const { latest } = objectOf(result, 'result')
  if (latest == null) return undefined
  if (typeof latest !== 'number' || !Number.isSafeInteger(latest) || latest < 0) throw new ShapeError('latest is not a block number')
  return latest
}

/**
 * Creates a function that reads the last block with recorded proofs from an execution half, over HTTP.
 * @throws from each call: Fault PROOFS_NOT_RECORDED (fatal) when the method is unknown, PROOFS_UNKNOWN (retry)
 * @see base: `debug_proofsSyncStatus`, `{"earliest": number | null, "latest": number | null}`
 */
export function createProofsStatus(deps: JsonHttpDeps, endpoint: ProofsEndpoint): (signal: AbortSignal) => Promise<RecordedProofs> {
  const { url, headers, timeoutMs } = endpoint
  return async (signal) => {
    const body = { jsonrpc: '2.0', id: 1, method: 'debug_proofsSyncStatus', params: [] }
    const outcome = await requestJson(deps, { timeoutMs, maxBodyBytes }, { url, headers: headers(), body }, signal)
    if (outcome.kind !== 'answer') {
      throw l2Fault('PROOFS_UNKNOWN', { reason: 'reason' in outcome ? outcome.reason : outcome.kind })
    }
    try {
      return { latest: latestIn(outcome.json) }
    } catch (error) {
      if (error instanceof ShapeError) throw l2Fault('PROOFS_UNKNOWN', { reason: error.message }, error)
      throw error
    }
  }
}
