import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { inputOfBlock } from '#block/execution/blockInput'
import { executeBlock } from '#block/execution/executeBlock'
import { createSenders } from '#block/execution/senders'
import { parseRollupConfig } from '#chainspec/rollupConfig'
import { fromHex, type Hex, toQuantity } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { witnessState } from '#state/witnessState'
import { recordedChains } from '#test/harness/chain/l2Blocks'
import type { Outcome } from '#test/harness/rpc/causes'
import { callRpc } from '#test/harness/rpc/exchanges'
import type { Json } from '#test/harness/rpc/json'
import { type ServedChain, serveRecordedChain } from '#test/harness/rpc/recordedNode'
import { readSharedJson } from '#test/harness/sharedData'
import { createReferenceEvm } from '#test/reference/referenceEvm'
import { decodeBlock } from '#types/block'
import { decodeHeader, hashHeader } from '#types/header'
import { type Hash, hashFromBytes } from '#types/ids'

type Fields = Readonly<Record<string, Json>>

const resultOf = (outcome: Outcome): Json => ('result' in outcome ? outcome.result : { failed: outcome.error.message })

function witnessParts({ state, codes, keys, headers }: Fields): Readonly<Record<string, readonly Json[]>> {
  const values = (of: Json | undefined): readonly Json[] => Object.values((of ?? []) as Fields)
  return { state: values(state), codes: values(codes), keys: values(keys), headers: values(headers) }
}

describe.each(recordedChains)('rpc/methods/debug: %s', (name) => {
  let served: ServedChain
  const ask = async (method: string, params: readonly Json[]): Promise<Json> => resultOf(await callRpc(served.url, method, params))
  beforeAll(async () => {
    served = await serveRecordedChain(name)
  })
  afterAll(async () => {
    await served[Symbol.asyncDispose]()
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
    const outcome = await callRpc(served.url, 'debug_traceCall', [{}, '0x14', { txIndex: '0xff' }])
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
        resultOf(await callRpc(served.url, 'debug_executionWitness', [toQuantity(number)])) as Fields,
      )
      const bytes = [...(state ?? []), ...(codes ?? [])].map((hex) => fromHex(hex as Hex))
      const header = decodeHeader(fromHex(headers?.at(-1) as Hex))
      const preimages = new Map(bytes.map((each) => [hashFromBytes(keccak256(each)), each]))
      const hashes = new Map([[header.number, hashHeader(header)]])
      const parent = { header, hash: hashHeader(header), state: witnessState(preimages, header.stateRoot, (of) => hashes.get(of)) }
      const deps = { evm: createReferenceEvm(), config, senders: createSenders({ maxBytes: 0 }) }
      const result = executeBlock(deps, parent, inputOfBlock(block))
      expect(result.kind === 'executed' ? result.block.hash : result, `block ${number}`).toBe(hashHeader(block.header))
    }
  })

  it('rejects requests that cannot be traced, with the codes and texts of rpc-compat', async () => {
    const unknown = `0x${'11'.repeat(32)}`
    expect(await callRpc(served.url, 'debug_traceTransaction', [unknown])).toEqual({
      error: { code: -32000, message: 'transaction not found' }, // −32001 in the recording of the newer client
    })
    expect(await callRpc(served.url, 'debug_traceBlockByNumber', ['0x0'])).toEqual({
      error: { code: -32000, message: 'genesis is not traceable' },
    })
    expect(await callRpc(served.url, 'debug_traceBlockByHash', [unknown])).toEqual({
      error: { code: -32000, message: `block ${unknown} not found` },
    })
    expect(await callRpc(served.url, 'debug_traceBlockByNumber', ['3'])).toMatchObject({ error: { code: -32602 } })
  })
})
