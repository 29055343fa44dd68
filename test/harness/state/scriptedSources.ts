import { Registry } from 'prom-client'
import type { GenesisAccount } from '#chainspec/genesis'
import type { WantedState } from '#evm/ports'
import { stateSourceMetrics } from '#l2/metrics'
import { createStateSources } from '#l2/state/stateSources'
import { bytesFromBigint } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { silentLog } from '#lib/log'
import { ethRegistry } from '#rpc/methods'
import { genesisState } from '#state/genesisState'
import type { StateRequest } from '#state/stateSource'
import { createWorldReads } from '#state/worldReads'
import { createManualClock, type ManualClock } from '#test/harness/clock'
import { account, fakeChain, fakeContext } from '#test/harness/rpc/fakes'
import { type Hash, hashFromBytes } from '#types/ids'

export const word = (value: number): Hash => hashFromBytes(bytesFromBigint(BigInt(value), 32))
export const code = Uint8Array.of(0x60, 0x01, 0x50)
export const contract = account(9)

function stateOf(balance: number) {
  const accounts = Array.from({ length: 200 }, (_, i): GenesisAccount => {
    const storage = i === 9 ? Array.from({ length: 40 }, (_slot, n) => [word(n), BigInt(n + balance)] as const) : []
    return { address: account(i), nonce: 0n, balance: BigInt(balance), code: i === 9 ? code : new Uint8Array(), storage: new Map(storage) }
  })
  const { result, state } = genesisState(accounts)
  return { root: result.root, state, reads: createWorldReads(state, result.root) }
}
export const [now, earlier] = [stateOf(5), stateOf(4)]
export const codeHash = now.reads.account(contract)?.codeHash as Hash

const chain = fakeChain([[], []])
export const at = { ...chain.view().heads.latest, stateRoot: now.root }

type Call = { readonly id: number; readonly method: string; readonly params: readonly unknown[] }
/** Changes one answer. Returns undefined for an error −32601. */
export type Twist = (call: Call, answer: unknown) => unknown
/** Changes a response; undefined: none comes. */
type Http = (body: string) => Response | undefined

export const unknownMethod = Symbol('unknown method')
export const errorWith = (code: number) => ({ errorCode: code })

export const witnessMethod = 'debug_executionWitnessByBlockHash'

/** Answers of a node, by its own methods over one of the states. */
async function answerOf({ method, params }: Call, { reads }: ReturnType<typeof stateOf>): Promise<unknown> {
  if (method === witnessMethod) return { state: ['0x80', '0xc0'], codes: ['0x6001'] }
  const view = () => ({ ...chain.view(), state: () => reads })
  const context = fakeContext({ ...chain, view } as never)
  const tracing = { ...context.tracing, code: () => code }
  return ethRegistry.get(method)?.call({ ...context, tracing } as never, [...params])
}

export type Scripted = {
  readonly twist?: Twist
  readonly http?: Http
  readonly state?: ReturnType<typeof stateOf>
  readonly asked: string[]
}
export const honest = (): Scripted => ({ asked: [] })

async function scriptedAnswer(script: Scripted, call: Call): Promise<unknown> {
  script.asked.push(call.method)
  const answer = structuredClone(await answerOf(call, script.state ?? now))
  const result = script.twist ? script.twist(call, answer) : answer
  const code = result === unknownMethod ? -32_601 : (result as { errorCode?: number } | null)?.errorCode
  return { jsonrpc: '2.0', id: call.id, ...(code ? { error: { code, message: 'header not found' } } : { result }) }
}

export function sourcesOf(scripts: readonly Scripted[], options: { deadlineMs?: number } = {}) {
  const clock = createManualClock()
  const registry = new Registry()
  const metrics = stateSourceMetrics.register(registry)
  const fetch = async (url: string, { body, signal }: { body?: string; signal: AbortSignal }): Promise<Response> => {
    const script = scripts[Number(new URL(url).port) - 1] as Scripted
    const given = JSON.parse(body ?? '') as Call | readonly Call[]
    const answers = await Promise.all([given].flat().map((call) => scriptedAnswer(script, call as Call)))
    const text = JSON.stringify(Array.isArray(given) ? answers : answers[0])
    const response = script.http ? script.http(text) : new Response(text)
    return response ?? new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }))
  }
  const urls = scripts.map((_, i) => `http://127.0.0.1:${i + 1}`)
  const sources = createStateSources({ fetch: fetch as never, clock, log: silentLog, metrics }, { urls, ...options })
  const metric = async (name: string): Promise<number> => {
    const { values } = (await registry.getSingleMetric(`basalt_state_source_${name}`)?.get()) ?? { values: [] }
    return values.reduce((sum, { value }) => sum + value, 0)
  }
  return { sources, clock, metric }
}

/** Moves time until a promise is settled. */
export async function inTime<T>(clock: ManualClock, promise: Promise<T>): Promise<T> {
  let isDone = false
  promise.then(
    () => (isDone = true),
    () => (isDone = true),
  )
  while (!isDone) await clock.advanceMs(50)
  return promise
}

export const addressKey = keccak256(fromHex(contract))
export const slotKey = keccak256(fromHex(word(3)))
export const wanted: Readonly<Record<string, WantedState>> = {
  account: { kind: 'account', addressKey, address: contract },
  'absent account': { kind: 'account', addressKey: keccak256(fromHex(account(999))), address: account(999) },
  slot: { kind: 'slot', addressKey, slotKey, address: contract, slot: word(3) },
  'absent slot': { kind: 'slot', addressKey, slotKey: keccak256(fromHex(word(77))), address: contract, slot: word(77) },
  code: { kind: 'code', codeHash },
  'node of accounts': { kind: 'node', owner: undefined, path: Uint8Array.of(3) },
  'node of storage': { kind: 'node', owner: addressKey, path: Uint8Array.of(5) },
}
export const request = (of: WantedState): StateRequest => ({ at, wanted: of })
