import type { Hex } from 'viem'
import { beforeAll, describe, expect, it } from 'vitest'
import { ethRegistry } from '#rpc/methods'
import { socketMethods } from '#rpc/methods/eth/methods'
import { mismatch } from '#test/harness/rpc/schemaJudge'
import { net, newcomers, viemL2, viemWallet } from './people.ts'

/** Methods whose example cannot be sent unchanged, each with the reason; fuzz:rpc sends them too. */
const notAsked: Readonly<Record<string, string>> = {
  debug_proofsSyncStatus:
    'this node records no proofs, and answers -32601 as a client without the method; proofs.test.ts asks one that does',
  eth_getFilterChanges: 'the filter of the example does not exist here',
  eth_getFilterLogs: 'the filter of the example does not exist here',
  eth_uninstallFilter: 'the filter of the example does not exist here',
  eth_sendRawTransaction: 'the transaction of the example is of another chain; sending.test.ts sends others',
  eth_sendRawTransactionSync: 'the transaction of the example is of another chain; simulating.test.ts sends another',
  eth_sendRawTransactionConditional: 'the transaction of the example is of another chain',
  trace_rawTransaction: 'the transaction of the example is cut short',
  debug_traceBlock: 'the block of the example is cut short',
  debug_executePayload: 'the attributes of the example are of another chain',
}
/** Methods that change the node, which other files use at the same time. */
const changing = /^(admin|miner)_/

type Answer = { readonly result?: unknown; readonly error?: { readonly code: number; readonly message: string } }

async function ask(method: string, params: unknown): Promise<Answer> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const response = await fetch(net.rpcUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  return (await response.json()) as Answer
}

/** Values of this chain for each kind of text in an example. */
type Real = { readonly block: Hex; readonly transaction: Hex; readonly address: Hex; readonly number: Hex }
let real: Real

beforeAll(async () => {
  const somebody = await newcomers(9, 2)
  const { key, address } = somebody()
  const hash = await viemWallet(key).sendTransaction({ to: somebody().address, value: 1n })
  const { blockHash, blockNumber } = await viemL2.waitForTransactionReceipt({ hash })
  real = { block: blockHash, transaction: hash, address, number: `0x${blockNumber.toString(16)}` }
})

const ofTransaction = /TransactionByHash|TransactionReceipt|(debug_trace|trace_|replay|Raw)Transaction$|trace_get|transactionStatus/

/** Returns the parameters of an example with values of this chain. */
function grounded(method: string, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => grounded(method, item))
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [name, /topics|storageKeys/.test(name) ? item : grounded(method, item)]),
    )
  if (typeof value !== 'string') return value
  if (/^0x[0-9a-f]{64}$/i.test(value)) return ofTransaction.test(method) ? real.transaction : real.block
  if (/^0x[0-9a-f]{40}$/i.test(value)) return real.address
  return value
}

type OpenRpcMethod = { readonly name: string; readonly result: { readonly schema: object } }

describe('the reference', () => {
  it('rpc.discover over HTTP lists the methods of this server, and rpc_modules the same namespaces', async () => {
    const { result } = await ask('rpc.discover', [])
    const { methods } = result as { methods: readonly OpenRpcMethod[] }
    expect(methods.map(({ name }) => name)).toEqual([...ethRegistry.keys()])
    for (const { name } of socketMethods) expect(methods.map((each) => each.name)).not.toContain(name)
    const namespaces = [...new Set(methods.map(({ name }) => name.replace(/[_.].*/, '')))].sort()
    expect(Object.keys((await ask('rpc_modules', [])).result as object)).toEqual(namespaces)
  })

  it.each([...ethRegistry.keys()].filter((name) => !(name in notAsked) && !changing.test(name)))(
    'the result of the example of %s fits its schema',
    async (name) => {
      const method = ethRegistry.get(name)
      const { result, error } = await ask(name, grounded(name, method?.example.params))
      if (error !== undefined) {
        // an example may name data that this chain lacks: its error is never method not found, invalid params or internal error
        expect([name, method?.example.result]).toEqual([name, undefined])
        expect([-32700, -32600, -32601, -32602]).not.toContain(error.code)
        expect(error.message).not.toBe('Internal error')
        return
      }
      if (method?.result.schema !== undefined) expect(mismatch(method.result.schema, result)).toBeUndefined()
      const expected = method?.example.result
      if (typeof expected === 'object' && expected !== null && !Array.isArray(expected) && !/txpool|modules|config/i.test(name))
        expect(result).toMatchObject(Object.fromEntries(Object.keys(expected).map((key) => [key, expect.anything()])))
      else if (expected !== undefined && expected !== null) expect(typeof result).toBe(typeof expected)
    },
  )
})
