import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { baseFeeVault, l1FeeVault, operatorFeeVault } from '#chainspec/addresses'
import { isFailedDeposit } from '#test/harness/evm/traceDialects'
import { recordedExchanges } from '#test/harness/evm/tracedRecordings'
import { callRpc } from '#test/harness/rpc/exchanges'
import type { Json } from '#test/harness/rpc/json'
import { type ServedChain, serveRecordedChain } from '#test/harness/rpc/recordedNode'

type Frame = {
  readonly type: string
  readonly gas: string
  readonly gasUsed: string
  readonly input: string
  readonly from: string
  readonly to?: string
  readonly value?: string
  readonly output?: string
  readonly error?: string
  readonly calls?: readonly Frame[]
}
type Call = {
  readonly type: string
  readonly action: Readonly<Record<string, string>>
  readonly error?: string
  readonly result: Readonly<Record<string, string>> | null
  readonly subtraces: number
  readonly traceAddress: readonly number[]
}
type Replay = { readonly output: string; readonly trace: readonly Call[]; readonly stateDiff: Json; readonly vmTrace: null }
type Account = {
  readonly balance?: string
  readonly nonce?: number
  readonly code?: string
  readonly storage?: Readonly<Record<string, string>>
}
type Accounts = Readonly<Record<string, Account>>

/** Chain, dialect of its client, deposits that failed before they ran: both clients make up their frames. */
const chains = [
  ['op-bedrock-to-holocene', 'op-geth', ['0x493d826abf2959961d1da9e4f6013b53ee3dd4bb23d43c907ba9fad9f714272d']],
  [
    'op-ecotone-to-jovian',
    'reth',
    [
      '0x9059197042f6f1f1a9aaee6122e19b3cfeb63e10a29937d4a1772d4151bff0ae',
      '0xe08814b56d0ccd716cc0d99e7339558328204d14ab394e471a2a854ffb39d748',
    ],
  ],
] as const

const feeVaults: readonly string[] = [baseFeeVault, l1FeeVault, operatorFeeVault]

const isPrecompile = ({ type, to = '' }: Frame): boolean =>
  /^(STATIC)?CALL$/.test(type) && /^0x0{36}(0[0-9a-f]{3})$/.test(to) && Number(to) <= 0x100

/** Converts a recorded call tree to OpenEthereum's format, without the gas of the outermost call. */
function flattened(frame: Frame, traceAddress: readonly number[] = []): readonly unknown[] {
  const { type, from, to, value = '0x0', input, output = '0x', error } = frame
  const calls = (frame.calls ?? []).filter((call) => !isPrecompile(call))
  const isCreation = type.startsWith('CREATE')
  const own =
    type === 'SELFDESTRUCT'
      ? { type: 'suicide', from, to, value }
      : {
          type: isCreation ? 'create' : 'call',
          from,
          to: error !== undefined && isCreation ? undefined : to,
          value,
          input,
          output: error === undefined || error === 'execution reverted' ? output : undefined,
        }
  const isRoot = traceAddress.length === 0
  const place = {
    traceAddress,
    subtraces: calls.length,
    failed: error !== undefined,
    gas: isRoot || type === 'SELFDESTRUCT' ? undefined : frame.gas,
  }
  return [{ ...own, ...place }, ...calls.flatMap((call, i) => flattened(call, [...traceAddress, i]))]
}

function comparableCall({ type, action, error, result, subtraces, traceAddress }: Call): unknown {
  const { from, to, value, input, init, gas, address, refundAddress, balance } = action
  const own =
    type === 'suicide'
      ? { type, from: address, to: refundAddress, value: balance }
      : {
          type,
          from,
          to: type === 'create' ? result?.['address'] : to,
          value,
          input: input ?? init,
          output: result?.['output'] ?? result?.['code'],
        }
  return {
    ...own,
    traceAddress,
    subtraces,
    failed: error !== undefined,
    gas: traceAddress.length === 0 || type === 'suicide' ? undefined : gas,
  }
}

const zeroWord = `0x${'00'.repeat(32)}`
const changed = (from: string, to: string): Json => (from === to ? '=' : { '*': { from, to } })

/** Converts the differences of a prestateTracer to OpenEthereum's format. */
function diffOf({ pre, post }: { readonly pre: Accounts; readonly post: Accounts }): Record<string, Json> {
  const diffs = Object.keys({ ...pre, ...post }).map((address): [string, Json] => {
    const [was, is] = [pre[address], post[address]]
    const slots = Object.keys({ ...was?.storage, ...is?.storage })
    if (was === undefined) {
      const storage = Object.fromEntries(slots.map((slot) => [slot, { '+': is?.storage?.[slot] ?? zeroWord }]))
      return [
        address,
        {
          balance: { '+': is?.balance ?? '0x0' },
          code: { '+': is?.code ?? '0x' },
          nonce: { '+': `0x${(is?.nonce ?? 0).toString(16)}` },
          storage,
        },
      ]
    }
    const nonce = (of: number | undefined): string => `0x${(of ?? 0).toString(16)}`
    const storage = Object.fromEntries(
      slots.map((slot) => [slot, changed(was.storage?.[slot] ?? zeroWord, is?.storage?.[slot] ?? zeroWord)]),
    )
    return [
      address,
      {
        balance: changed(was.balance ?? '0x0', is?.balance ?? was.balance ?? '0x0'),
        code: changed(was.code ?? '0x', is?.code ?? was.code ?? '0x'),
        nonce: changed(nonce(was.nonce), nonce(is?.nonce ?? was.nonce)),
        storage,
      },
    ]
  })
  return Object.fromEntries(diffs)
}

describe.each(chains)('rpc/methods/trace: %s', (name, dialect, failedDeposits) => {
  let served: ServedChain
  const ask = async (method: string, params: readonly Json[]): Promise<Json> => {
    const outcome = await callRpc(served.url, method, params)
    if ('error' in outcome) throw new Error(`${method}: ${outcome.error.message}`)
    return outcome.result
  }
  beforeAll(async () => {
    served = await serveRecordedChain(name)
  })
  afterAll(async () => {
    await served[Symbol.asyncDispose]()
  })

  /** Recorded traces of transactions by a tracer. */
  function tracesBy(tracer: string, diffMode?: boolean): readonly { readonly hash: string; readonly result: Json }[] {
    const traces = recordedExchanges(name, 'debug_traceTransaction').flatMap(({ params, outcome }) => {
      const [hash, request] = params as [string, { tracer?: string; tracerConfig?: { diffMode?: boolean } } | undefined]
      const isWanted = request?.tracer === tracer && request.tracerConfig?.diffMode === diffMode
      return isWanted && 'result' in outcome ? [{ hash, result: outcome.result }] : []
    })
    expect(traces.length).toBeGreaterThan(70)
    return traces
  }

  it('returns the calls of a transaction as in its recorded call trace', async () => {
    const failed: string[] = []
    for (const { hash, result } of tracesBy('callTracer')) {
      if (isFailedDeposit(dialect, result)) {
        failed.push(hash)
        continue
      }
      const replayed = (await ask('trace_replayTransaction', [hash, ['trace']])) as unknown as Replay
      expect(replayed.trace.map(comparableCall), hash).toEqual(flattened(result as unknown as Frame))
      const calls = (await ask('trace_transaction', [hash])) as unknown as readonly (Call & { readonly transactionHash: string })[]
      expect(calls.map(comparableCall)).toEqual(replayed.trace.map(comparableCall))
      expect(await ask('trace_get', [hash, ['0x0']])).toEqual(calls[0])
    }
    expect(failed).toEqual(failedDeposits)
  })

  it('returns the state changes of a transaction as in its recorded state trace', async () => {
    for (const { hash, result } of tracesBy('prestateTracer', true)) {
      const { stateDiff } = (await ask('trace_replayTransaction', [hash, ['stateDiff']])) as unknown as Replay
      const theirs = diffOf(result as unknown as { pre: Accounts; post: Accounts })
      // op-geth lists no fee vault
      const listed = Object.entries(stateDiff as Accounts).filter(
        ([address]) => dialect === 'reth' || address in theirs || !feeVaults.includes(address),
      )
      expect(Object.fromEntries(listed), hash).toEqual(theirs)
    }
  })

  it("returns the traces of a block's transactions for the block", async () => {
    for (const number of ['0x14', '0x24', '0x32']) {
      const { transactions } = (await ask('eth_getBlockByNumber', [number, false])) as unknown as { transactions: readonly string[] }
      const calls = await Promise.all(transactions.map((hash) => ask('trace_transaction', [hash])))
      expect(await ask('trace_block', [number])).toEqual(calls.flat())
      expect(await ask('trace_filter', [{ fromBlock: number, toBlock: number }])).toEqual(calls.flat())
      const types = ['trace', 'stateDiff']
      const replayed = await Promise.all(transactions.map((hash) => ask('trace_replayTransaction', [hash, types])))
      const expected = replayed.map((each, i) => ({ ...(each as object), transactionHash: transactions[i] }))
      expect(await ask('trace_replayBlockTransactions', [number, types])).toEqual(expected)
    }
  })

  it("returns the gas of a transaction's opcodes as the sum of its steps", async () => {
    const exchanges = recordedExchanges(name, 'debug_traceTransaction').filter(
      ({ params }) => params.length === 1 || !JSON.stringify(params[1]).includes('tracer'),
    )
    for (const { params, outcome } of exchanges) {
      if (!('result' in outcome)) continue
      const { structLogs } = outcome.result as unknown as { structLogs: readonly { op: string; gasCost: number }[] }
      const sums = new Map<string, { count: number; gasUsed: number }>()
      for (const { op, gasCost } of structLogs) {
        const { count, gasUsed } = sums.get(op) ?? { count: 0, gasUsed: 0 }
        sums.set(op, { count: count + 1, gasUsed: gasUsed + gasCost })
      }
      const { opcodeGas } = (await ask('trace_transactionOpcodeGas', [params[0] as string])) as unknown as {
        opcodeGas: readonly { opcode: string; count: number; gasUsed: number }[]
      }
      expect(Object.fromEntries(opcodeGas.map(({ opcode, ...rest }) => [opcode, rest])), String(params[0])).toEqual(
        Object.fromEntries(sums),
      )
    }
  })

  it('returns the calls of trace_call as debug_traceCall does', async () => {
    for (const { params, outcome } of recordedExchanges(name, 'debug_traceCall')) {
      const [call, number, request] = params as [Json, string, { tracer?: string }]
      if (!('result' in outcome) || request.tracer !== 'callTracer') continue
      const one = (await ask('trace_call', [call, ['trace'], number])) as unknown as Replay
      expect(one.trace.map(comparableCall)).toEqual(flattened(outcome.result as unknown as Frame))
      expect(await ask('trace_callMany', [[[call, ['trace']]], number])).toEqual([one])
    }
  })
})
