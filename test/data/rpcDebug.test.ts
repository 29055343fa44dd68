import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { inputOfBlock } from '#block/execution/blockInput'
import { executeBlock } from '#block/execution/executeBlock'
import { createSenders } from '#block/execution/senders'
import { parseRollupConfig } from '#chainspec/rollupConfig'
import { createReferenceEvm } from '#evm/referenceEvm'
import type { TraceRequest } from '#evm/tracing'
import { fromHex, type Hex, toQuantity } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import type { RpcServer } from '#rpc/server/httpServer'
import { witnessState } from '#state/witnessState'
import { comparableTraces, isFailedDeposit } from '#test/harness/evm/traceDialects'
import { recordedExchanges } from '#test/harness/evm/tracedRecordings'
import type { Dialect } from '#test/harness/rpc/dialects'
import { callRpc, type Exchange, firstDifference, type Outcome } from '#test/harness/rpc/exchanges'
import type { Json } from '#test/harness/rpc/json'
import { serveRecordedChain } from '#test/harness/rpc/recordedNode'
import { readSharedJson } from '#test/harness/sharedData'
import { decodeBlock } from '#types/block'
import { decodeHeader, hashHeader } from '#types/header'
import { type Hash, hashFromBytes } from '#types/ids'

/** Chain, dialect of its client, number of its finalized block, number of equal results by method. */
const chains = [
  ['op-bedrock-to-holocene', 'op-geth', 115],
  ['op-ecotone-to-jovian', 'reth', 163],
] as const

type Fields = Readonly<Record<string, Json>>
type TracedBlock = readonly { readonly txHash: string; readonly result: Json }[]

const resultOf = (outcome: Outcome): Json => ('result' in outcome ? outcome.result : { failed: outcome.error.message })

/** Compares one trace of a transaction. Clients differ in deposits that fail before they run (traceDialects). */
function traceDifference(dialect: Dialect, request: TraceRequest, theirs: Json, ours: Json): unknown {
  if (request.tracer === 'callTracer' && isFailedDeposit(dialect, theirs)) return undefined
  const pair = comparableTraces(dialect, request, { theirs, ours })
  return firstDifference(pair.theirs, pair.ours)
}

const differences: Readonly<Record<string, (dialect: Dialect, exchange: Exchange, theirs: Json, ours: Json) => unknown>> = {
  debug_traceTransaction: (dialect, { params }, theirs, ours) => traceDifference(dialect, (params[1] ?? {}) as TraceRequest, theirs, ours),
  debug_traceCall: (dialect, { params }, theirs, ours) => traceDifference(dialect, (params[2] ?? {}) as TraceRequest, theirs, ours),
  debug_traceBlockByNumber(dialect, { params }, theirs, ours) {
    const [told, found] = [theirs, ours] as unknown as [TracedBlock, TracedBlock]
    if (told.length !== found.length) return 'number of transactions differs'
    return told
      .map(({ txHash, result }, i) =>
        txHash === found[i]?.txHash ? traceDifference(dialect, params[1] as TraceRequest, result, found[i].result) : 'another order',
      )
      .find((difference) => difference !== undefined)
  },
  debug_chainConfig(dialect, _exchange, theirs, ours) {
    // op-geth has no Delta, which belongs to the consensus half, and writes fields that no chain of the OP Stack has
    const { depositContractAddress: _contract, ...told } = theirs as Fields
    const { deltaTime, daoForkSupport, ...found } = ours as Fields
    return firstDifference(
      told,
      dialect === 'op-geth' ? found : { ...found, deltaTime: deltaTime ?? null, daoForkSupport: daoForkSupport ?? null },
    )
  },
}

const without = (some: ReadonlySet<Json>, others: ReadonlySet<Json>): readonly Json[] => [...some].filter((each) => !others.has(each))

/** op-geth returns maps by hash, and headers as objects. */
function witnessParts({ state, codes, keys, headers }: Fields): Readonly<Record<string, readonly Json[]>> {
  const values = (of: Json | undefined): readonly Json[] => Object.values((of ?? []) as Fields)
  return { state: values(state), codes: values(codes), keys: values(keys), headers: values(headers) }
}

describe.each(chains)('rpc/methods/debug: %s', (name, dialect, finalized) => {
  let servers: { readonly eth: RpcServer; readonly rollup: RpcServer }
  const ask = async (method: string, params: readonly Json[]): Promise<Json> => resultOf(await callRpc(servers.eth.url, method, params))
  beforeAll(async () => {
    servers = await serveRecordedChain(name, finalized)
  })
  afterAll(async () => {
    await servers.eth[Symbol.asyncDispose]()
    await servers.rollup[Symbol.asyncDispose]()
  })

  it.each([
    'debug_getRawHeader',
    'debug_getRawBlock',
    'debug_getRawTransaction',
    'debug_getRawReceipts',
    'debug_chainConfig',
    'debug_traceTransaction',
    'debug_traceBlockByNumber',
    'debug_traceCall',
  ])('returns the recorded results of %s', async (method) => {
    const exchanges = recordedExchanges(name, method)
    const different: unknown[] = []
    for (const exchange of exchanges) {
      if ('error' in exchange.outcome) continue
      const found = await callRpc(servers.eth.url, method, exchange.params)
      const judge = differences[method] ?? ((_dialect, _exchange, theirs, ours) => firstDifference(theirs, ours))
      const difference = judge(dialect, exchange, exchange.outcome.result, resultOf(found))
      if (difference !== undefined) different.push([exchange.params, difference])
    }
    expect(different).toEqual([])
    expect(exchanges.length).toBeGreaterThan(0)
  })

  /** This node also proves that the caller of system calls is absent, and called precompiles: its interpreter reads them. */
  it('includes all parts of the recorded debug_executionWitness, and few more', async () => {
    for (const { params, outcome } of recordedExchanges(name, 'debug_executionWitness')) {
      const theirs = witnessParts(resultOf(outcome) as Fields)
      const witness = await ask('debug_executionWitness', params)
      expect(await ask('debug_executionWitness', params)).toEqual(witness)
      const ours = witnessParts(witness as Fields)
      for (const part of ['state', 'codes', 'keys'] as const) {
        const [told, found] = [new Set(theirs[part]), new Set(ours[part])]
        expect(without(told, found), part).toEqual([])
        if (part !== 'keys' || dialect === 'reth') expect(without(found, told).length, part).toBeLessThanOrEqual(4)
      }
      if (dialect === 'reth') expect(ours['headers']).toEqual(theirs['headers'])
    }
  })

  it('lists the slots of eth_getStorageAt in debug_storageRangeAt, before and after the transactions of a block', async () => {
    const contract = '0x4200000000000000000000000000000000000015'
    const slots = Array.from({ length: 9 }, (_, slot) => slot)
    const { hash, transactions } = (await ask('eth_getBlockByNumber', ['0x14', false])) as unknown as {
      hash: Hash
      transactions: readonly Hash[]
    }
    for (const [index, number] of [
      [0, '0x13'],
      [transactions.length, '0x14'],
    ] as const) {
      const whole = (await ask('debug_storageRangeAt', [hash, index, contract, '0x', 1_000])) as Fields
      const storage = whole['storage'] as Readonly<Record<string, { readonly value: string }>>
      for (const slot of slots) {
        const key = hashFromBytes(keccak256(fromHex(`0x${slot.toString(16).padStart(64, '0')}`)))
        const value = await ask('eth_getStorageAt', [contract, toQuantity(slot), number])
        expect(storage[key]?.value ?? `0x${'00'.repeat(32)}`, `slot ${slot} of block ${number}`).toBe(value)
      }
      const keys = Object.keys(storage)
      expect(keys).toEqual(keys.toSorted())
      expect(whole['nextKey']).toBeNull()
      const second = (await ask('debug_storageRangeAt', [hash, index, contract, keys[1] ?? '0x', 1])) as Fields
      expect(second).toEqual({ storage: { [keys[1] ?? '']: storage[keys[1] ?? ''] }, nextKey: keys[2] ?? null })
    }
  })

  it('returns the block’s witness from debug_executePayload with the block’s attributes', async () => {
    for (const number of [0x14, 0x32, 0x60]) {
      const tag = toQuantity(number)
      const block = (await ask('eth_getBlockByNumber', [tag, false])) as unknown as Readonly<Record<string, string>>
      const extraData = block['extraData'] ?? '0x'
      const attributes = {
        ...{
          timestamp: block['timestamp'],
          prevRandao: block['mixHash'],
          suggestedFeeRecipient: block['miner'],
          gasLimit: block['gasLimit'],
        },
        ...{ transactions: await ask('debug_getRawTransactions', [tag]), noTxPool: true },
        ...(block['withdrawalsRoot'] !== undefined && { withdrawals: [] }),
        ...(block['parentBeaconBlockRoot'] !== undefined && { parentBeaconBlockRoot: block['parentBeaconBlockRoot'] }),
        ...(extraData.length > 2 && { eip1559Params: `0x${extraData.slice(4, 20)}` }),
        ...(extraData.length > 20 && { minBaseFee: Number(`0x${extraData.slice(20)}`) }),
      } as Json
      const made = await ask('debug_executePayload', [block['parentHash'] ?? '', attributes])
      const wanted = await ask('debug_executionWitness', [tag])
      const sorted = (of: Json): unknown => Object.entries(witnessParts(of as Fields)).map(([part, list]) => [part, list.toSorted()])
      expect(sorted(made), `block ${number}`).toEqual(sorted(wanted))
    }
  })

  it('rejects a call before a transaction that does not exist', async () => {
    const outcome = await callRpc(servers.eth.url, 'debug_traceCall', [{}, '0x14', { txIndex: '0xff' }])
    expect(outcome).toEqual({ error: { code: -32000, message: 'transaction index 255 out of range' } })
  })

  it('returns known code from debug_codeByHash, and null for unknown code', async () => {
    const code = (await ask('eth_getCode', ['0x4200000000000000000000000000000000000015', 'latest'])) as Hex
    expect(await ask('debug_codeByHash', [hashFromBytes(keccak256(fromHex(code)))])).toBe(code)
    expect(await ask('debug_codeByHash', [`0x${'11'.repeat(32)}`])).toBeNull()
  })

  it('executes a block on its witness only', async () => {
    const config = parseRollupConfig(readSharedJson(`chains/${name}/rollup.json`)).config
    const { blocks } = readSharedJson<{ blocks: readonly { raw: Hex }[] }>(`chains/${name}/l2.json.zst`)
    for (let number = 1; number < blocks.length; number += 7) {
      const block = decodeBlock(fromHex(blocks[number]?.raw ?? '0x'))
      const { state, codes, headers } = witnessParts(
        resultOf(await callRpc(servers.eth.url, 'debug_executionWitness', [toQuantity(number)])) as Fields,
      )
      const bytes = [...(state ?? []), ...(codes ?? [])].map((hex) => fromHex(hex as Hex))
      const header = decodeHeader(fromHex(headers?.at(-1) as Hex))
      const preimages = new Map(bytes.map((each) => [hashFromBytes(keccak256(each)), each]))
      const hashes = new Map([[header.number, hashHeader(header)]])
      const parent = { header, hash: hashHeader(header), state: witnessState(preimages, header.stateRoot, (of) => hashes.get(of)) }
      const deps = { evm: createReferenceEvm(), config, senders: createSenders({ maxBytes: 0 }) }
      const result = executeBlock(deps, parent, inputOfBlock(config.schedule, block))
      expect(result.kind === 'executed' ? result.block.hash : result, `block ${number}`).toBe(hashHeader(block.header))
    }
  })

  it('rejects requests that cannot be traced, with the codes and texts of rpc-compat', async () => {
    const unknown = `0x${'11'.repeat(32)}`
    expect(await callRpc(servers.eth.url, 'debug_traceTransaction', [unknown])).toEqual({
      error: { code: -32000, message: 'transaction not found' }, // −32001 in the recording of the newer client
    })
    expect(await callRpc(servers.eth.url, 'debug_traceBlockByNumber', ['0x0'])).toEqual({
      error: { code: -32000, message: 'genesis is not traceable' },
    })
    expect(await callRpc(servers.eth.url, 'debug_traceBlockByHash', [unknown])).toEqual({
      error: { code: -32000, message: `block ${unknown} not found` },
    })
    expect(await callRpc(servers.eth.url, 'debug_traceBlockByNumber', ['3'])).toMatchObject({ error: { code: -32602 } })
  })
})
