import { expect, it } from 'vitest'
import { configOfGenesis } from '#block/executionConfig'
import { createExecution } from '#blockchain/execution'
import { parseBaseGenesisNote } from '#chainspec/baseGenesis'
import { l2RefOf } from '#chainspec/l2Ref'
import { encodePayload, parseAttributes, parsePayload } from '#engine/payloadJson'
import { createWasmEvm } from '#evm/wasmEvm'
import { systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import { readShared, readSharedJson } from '#test/harness/sharedData'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import type { Payload, PayloadAttributes } from '#types/payload'

// biome-ignore lint/suspicious/noExplicitAny: recorded JSON of many shapes
type Exchange = { readonly request: { method: string; params: any[] }; readonly response: { result?: any } }

const withoutNulls = (json: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(json).filter(([key, value]) => value !== null && key !== 'depositRequests'))

/**
 * Builds each payload of the recorded client again from its attributes and its pool's transactions, and validates each payload that the client
 * received.
 */
it.each([
  ['op-node_op-geth', 60],
  ['base-consensus_base-reth-node', 61],
])('block/execution: replays the Engine API dialogue of %s to the same %i payloads', async (name, count) => {
  const { genesis } = parseBaseGenesisNote(readSharedJson(`engine/${name}.genesis.json`))
  const config = configOfGenesis(genesis)
  const execution = createExecution({
    kv: createMemoryKv(),
    evm: createWasmEvm(),
    config,
    genesis: () => genesis,
    clock: systemClock,
    log: silentLog,
  })
  const asked = new Map<string, PayloadAttributes>()
  let built = 0

  const onForkchoice = async ({ request, response }: Exchange) => {
    const head = await execution.payload(request.params[0].headBlockHash)
    expect(head?.blockHash).toBe(request.params[0].headBlockHash)
    await execution.setHeads({ ...(await execution.heads()), unsafe: l2RefOf(config, head as Payload) })
    if (request.params[1]) asked.set(response.result.payloadId, parseAttributes(request.params[1]))
  }
  const onGetPayload = async ({ request, response }: Exchange) => {
    const attributes = asked.get(request.params[0])
    if (attributes === undefined || !response.result) return
    const { executionPayload } = response.result
    const payload = parsePayload(executionPayload, attributes.parentBeaconBlockRoot)
    expect(encodePayload(payload)).toEqual(withoutNulls(executionPayload))
    const parent = { number: payload.blockNumber - 1, hash: payload.parentHash }
    const result = await execution.build(parent, { ...attributes, transactions: payload.transactions, noTxPool: true })
    expect(result).toEqual({ kind: 'built', payload })
    built++
  }
  const onNewPayload = ({ request }: Exchange) => {
    const payload = parsePayload(request.params[0], request.params[2])
    expect(execution.insertPayload(payload)).toEqual({ kind: 'valid' })
  }

  for (const line of readShared(`engine/${name}.jsonl.zst`).toString('utf8').trimEnd().split('\n')) {
    const exchange = JSON.parse(line) as Exchange
    const { method } = exchange.request
    if (method.startsWith('engine_forkchoiceUpdated')) await onForkchoice(exchange)
    if (method.startsWith('engine_getPayload')) await onGetPayload(exchange)
    if (method.startsWith('engine_newPayload')) onNewPayload(exchange)
  }
  expect(built).toBe(count)
})
