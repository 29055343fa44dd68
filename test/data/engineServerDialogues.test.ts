import { describe, expect, it } from 'vitest'
import { configOfGenesis } from '#block/executionConfig'
import { createExecution } from '#blockchain/execution'
import { parseBaseGenesisNote } from '#chainspec/baseGenesis'
import { payloadOfBlockJson } from '#engine/blockJson'
import { createWasmEvm } from '#evm/wasmEvm'
import { systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import { post, serveEngine } from '#test/harness/engine/server'
import { readShared, readSharedJson } from '#test/harness/sharedData'
import { createMemoryKv } from '#test/harness/store/memoryKv'

type Json = Record<string, unknown>
type Request = { readonly method: string; readonly params?: readonly unknown[]; readonly id: number }
type Answer = { readonly id: number; readonly result?: unknown; readonly error?: { readonly code: number } }
type Exchange = { readonly status: number; readonly request: Request; readonly response: Answer }

const object = (value: unknown): Json => (typeof value === 'object' && value !== null ? (value as Json) : {})
/** Omits fields that are not in the Engine API, and null for a field that this node omits. */
const known = (value: unknown): Json =>
  Object.fromEntries(
    Object.entries(object(value)).filter(([key, field]) => field !== null && !['witness', 'depositRequests'].includes(key)),
  )

/** Built payloads by recorded payload id. */
function builtPayloads(exchanges: readonly Exchange[]): ReadonlyMap<unknown, Json> {
  const fetched = exchanges.filter(({ request, response }) => request.method.startsWith('engine_getPayloadV') && response.result)
  return new Map(fetched.map(({ request, response }) => [request.params?.[0], object(object(response.result)['executionPayload'])]))
}

/** Compares a response with the recorded one. Comments give the reason for each omitted field. */
function compare({ request, response }: Exchange, ours: Answer): void {
  const { method, params = [] } = request
  const [result, recorded] = [object(ours.result), object(response.result)]
  if (method.startsWith('eth_getBlockBy')) compareBlock(params[0], response, ours)
  else if (method === 'engine_exchangeCapabilities') expect(ours.result).toEqual(expect.arrayContaining(response.result as string[]))
  else if (method.startsWith('engine_newPayload')) expect(known(result)).toEqual(known(recorded))
  else if (method.startsWith('engine_forkchoiceUpdated')) {
    expect(known(result['payloadStatus'])).toEqual(known(recorded['payloadStatus']))
    expect(typeof result['payloadId']).toBe(typeof recorded['payloadId'])
  } else if (method.startsWith('engine_getPayload')) {
    expect(result['executionPayload']).toEqual(known(recorded['executionPayload']))
    // the value counts fees of pool transactions; here all transactions are forced
    const { executionPayload: _payload, blockValue: _value, ...beside } = result
    for (const [key, value] of Object.entries(beside)) expect({ [key]: value }).toEqual({ [key]: recorded[key] })
    // op-geth adds the fields of V3 to results of V2
    if (!method.endsWith('V2')) expect(Object.keys(result).sort()).toEqual(Object.keys(known(recorded)).sort())
  } else expect(ours).toEqual(response)
}

function compareBlock(at: unknown, response: Answer, ours: Answer): void {
  const isThere = response.error === undefined && response.result !== null
  if (isThere) expect(payloadOfBlockJson(ours.result)).toEqual(payloadOfBlockJson(response.result))
  // before the first forkchoice the recorded clients have no safe and no finalized block (null or an error); this node has the genesis block
  else if (at === 'safe' || at === 'finalized') expect(object(ours.result)['number']).toBe('0x0')
  else expect(ours).toEqual(response)
}

describe('rpc/server/engineServer: replays a recorded dialogue of two other halves', () => {
  it.each([
    ['op-node_op-geth', 60],
    ['base-consensus_base-reth-node', 61],
  ])('%s: returns the same statuses, and %i payloads equal field by field', async (name, count) => {
    const { genesis } = parseBaseGenesisNote(readSharedJson(`engine/${name}.genesis.json`))
    const config = configOfGenesis(genesis)
    const deps = { kv: createMemoryKv(), evm: createWasmEvm(), config, genesis: () => genesis, clock: systemClock, log: silentLog }
    await using execution = createExecution(deps)
    await using server = await serveEngine({ execution, engine: execution, config })
    const lines = readShared(`engine/${name}.jsonl.zst`).toString('utf8').trimEnd().split('\n')
    const exchanges = lines.map((line) => JSON.parse(line) as Exchange)
    const payloads = builtPayloads(exchanges)
    const ids = new Map<unknown, unknown>()
    let compared = 0

    /** Replaces payload ids by this node's, and forces the transactions that the recorded client took from its pool. */
    const requestOf = ({ request, response }: Exchange): Request => {
      const { method, params = [] } = request
      if (method.startsWith('engine_getPayloadV')) return { ...request, params: [ids.get(params[0])] }
      const payload = payloads.get(object(response.result)['payloadId'])
      if (!method.startsWith('engine_forkchoiceUpdated') || payload === undefined) return request
      return { ...request, params: [params[0], { ...object(params[1]), transactions: payload['transactions'], noTxPool: true }] }
    }
    for (const exchange of exchanges) {
      const { status, json } = await post(server.url, requestOf(exchange))
      expect(status).toBe(exchange.status)
      const answer = json as Answer
      expect(answer.id).toBe(exchange.request.id)
      compare(exchange, answer)
      ids.set(object(exchange.response.result)['payloadId'], object(answer.result)['payloadId'])
      if (exchange.request.method.startsWith('engine_getPayloadV')) compared++
    }
    expect(compared).toBe(count)
  })
})
