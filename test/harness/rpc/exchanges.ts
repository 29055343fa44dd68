import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { zstdDecompressSync } from 'node:zlib'
import type { RecordedChainName } from '#devnet/recordedChain'
import type { Asked, Cause, Dialect, Outcome, Pair, RpcErrorJson } from './causes.ts'
import { commonCauses } from './commonCauses.ts'
import { opGethDebugCauses, rethDebugCauses } from './debugCauses.ts'
import type { Json } from './json.ts'
import { opGethCauses } from './opGethCauses.ts'
import { rethCauses } from './rethCauses.ts'

/** Recorded request with the outcome of the recording client. */
export type Exchange = { readonly note: string; readonly method: string; readonly params: readonly Json[]; readonly outcome: Outcome }

export type Difference = { readonly path: string; readonly expected: Json | undefined; readonly found: Json | undefined }

/** Number of exchanges of a method with the same cause of a difference, or with the same reason for no comparison. */
export type Row = readonly [method: string, cause: string, count: number]

/** Every exchange is in exactly one of the parts. */
export type Comparison = {
  readonly equal: number
  /** Exchanges that are equal without the named differences; an exchange with two causes counts in two rows. */
  readonly divergent: readonly Row[]
  /** Exchanges that could not be compared, by reason. */
  readonly skipped: readonly Row[]
  /** Exchanges with an unknown difference, one line each. */
  readonly different: readonly string[]
}

/** Parses `// note`, `>> request`, `<< response`; an empty line separates exchanges. */
export function parseExchanges(text: string): readonly Exchange[] {
  const exchanges: Exchange[] = []
  let note = ''
  let request: { method: string; params?: readonly Json[] } | undefined
  for (const line of text.split('\n')) {
    if (line.startsWith('//')) note = line.slice(2).trim()
    if (line.startsWith('>>')) request = JSON.parse(line.slice(2)) as typeof request
    if (!line.startsWith('<<')) continue
    if (request === undefined) throw new Error(`response without a request: ${line.slice(0, 80)}`)
    const answer = JSON.parse(line.slice(2)) as { result?: Json; error?: RpcErrorJson }
    const outcome = answer.error === undefined ? { result: answer.result ?? null } : { error: answer.error }
    exchanges.push({ note, method: request.method, params: request.params ?? [], outcome })
    request = undefined
  }
  return exchanges
}

function readText(path: string): string {
  const bytes = readFileSync(path)
  return (path.endsWith('.zst') ? zstdDecompressSync(bytes) : bytes).toString('utf8')
}

/** Reads the committed exchanges of a recorded chain. */
export const readExchanges = (chainName: RecordedChainName): readonly Exchange[] =>
  parseExchanges(readText(resolve(import.meta.dirname, `../../fixtures/exchanges/${chainName}.io.zst`)))

/** Reads all exchanges of a chain folder of the recorded data. */
export function readExchangesIn(chainDir: string): readonly Exchange[] {
  const dir = join(chainDir, 'rpc')
  const files = readdirSync(dir).filter((name) => /\.io(\.zst)?$/.test(name))
  return files.sort().flatMap((name) => parseExchanges(readText(join(dir, name))))
}

/** Returns the dialect of the recording client. */
export function dialectOf(exchanges: readonly Exchange[]): Dialect {
  const version = exchanges.find(({ method }) => method === 'web3_clientVersion')?.outcome
  return version !== undefined && 'result' in version && String(version.result).startsWith('Geth') ? 'op-geth' : 'reth'
}

const isContainer = (value: Json | undefined): value is Extract<Json, object> => typeof value === 'object' && value !== null

/** Returns the first difference between two values. The order of members does not matter. */
export function firstDifference(expected: Json | undefined, found: Json | undefined, path = ''): Difference | undefined {
  if (!isContainer(expected) || !isContainer(found) || Array.isArray(expected) !== Array.isArray(found)) {
    return expected === found ? undefined : { path, expected, found }
  }
  const member = (container: Extract<Json, object>, key: string): Json | undefined => (container as Record<string, Json>)[key]
  for (const key of new Set([...Object.keys(expected), ...Object.keys(found)])) {
    const difference = firstDifference(member(expected, key), member(found, key), `${path}.${key}`)
    if (difference !== undefined) return difference
  }
  return undefined
}

const causesOf: Readonly<Record<Dialect, readonly Cause[]>> = {
  'op-geth': [...opGethCauses, ...opGethDebugCauses, ...commonCauses],
  reth: [...rethCauses, ...rethDebugCauses, ...commonCauses],
}

const isMissing = (outcome: Outcome): boolean => 'error' in outcome && outcome.error.code === -32601
const isRefusedConfig = (outcome: Outcome): boolean => 'error' in outcome && /^unexpected config for tracer/.test(outcome.error.message)

/** Returns why two outcomes cannot be compared; undefined when they can. */
function skipReason({ theirs, ours }: Pair): string | undefined {
  if (isRefusedConfig(theirs) && 'result' in ours) return 'the recording client refuses an empty config of a tracer'
  if (isMissing(theirs) === isMissing(ours)) return undefined
  return isMissing(theirs) ? 'the recording client lacks the method' : 'this node lacks the method'
}

export type Verdict = { readonly causes: readonly string[] } | { readonly difference: Difference }

const asJson = (outcome: Outcome): Json => outcome as unknown as Json

/** Compares two outcomes. @returns the smallest set of known causes that explains the difference, or the difference that they leave */
export function judge(start: Pair, asked: Asked, dialect: Dialect): Verdict {
  const difference = (causes: readonly Cause[]): Difference | undefined => {
    const { theirs, ours } = causes.reduce((pair, cause) => cause.right(pair, asked), start)
    return firstDifference(asJson(theirs), asJson(ours))
  }
  if (difference([]) === undefined) return { causes: [] }
  let needed = causesOf[dialect].filter(({ methods }) => methods.test(asked.method))
  const left = difference(needed)
  if (left !== undefined) return { difference: left }
  for (const cause of needed) {
    const others = needed.filter((other) => other !== cause)
    if (difference(others) === undefined) needed = others
  }
  return { causes: needed.map(({ name }) => name) }
}

/** Sends one request over HTTP. */
export async function callRpc(url: string, method: string, params: readonly Json[]): Promise<Outcome> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  const answer = (await response.json()) as { result?: Json; error?: RpcErrorJson }
  return answer.error === undefined ? { result: answer.result ?? null } : { error: answer.error }
}

/** Methods of the consensus half. */
const isRollupMethod = (method: string): boolean => /^(optimism|opp2p|admin)_/.test(method)

function describe({ method, params }: Exchange, { path, expected, found }: Difference): string {
  const short = (value: Json | undefined): string => (JSON.stringify(value) ?? 'nothing').slice(0, 300)
  return `${method} ${short(params)} at ${path || 'the answer'}: expected ${short(expected)}, found ${short(found)}`
}

class Rows {
  readonly #counts = new Map<string, [method: string, cause: string, count: number]>()

  add(method: string, cause: string): void {
    const row = this.#counts.get(`${method} ${cause}`) ?? [method, cause, 0]
    row[2]++
    this.#counts.set(`${method} ${cause}`, row)
  }

  /** Sorted by cause, then by method. */
  get all(): readonly Row[] {
    const key = ([method, cause]: Row): string => `${cause} ${method}`
    return [...this.#counts.values()].sort((a, b) => (key(a) < key(b) ? -1 : 1))
  }
}

/**
 * Sends a node every recorded request and compares the outcomes.
 * @param url URL of the execution half
 * @param rollupUrl URL of the consensus half
 */
export async function compareExchanges(url: string, rollupUrl: string, exchanges: readonly Exchange[]): Promise<Comparison> {
  const dialect = dialectOf(exchanges)
  const results = new Map(
    exchanges.flatMap(({ method, params, outcome }) => ('result' in outcome ? [[JSON.stringify([method, params]), outcome.result]] : [])),
  )
  const recorded = (method: string, params: readonly Json[]): Json | undefined => results.get(JSON.stringify([method, params]))
  const latest = await callRpc(url, 'eth_blockNumber', [])
  const head = 'result' in latest ? Number(latest.result) : Number.NaN
  const [divergent, skipped, different] = [new Rows(), new Rows(), [] as string[]]
  let equal = 0
  for (const exchange of exchanges) {
    const { method, params, outcome: theirs } = exchange
    const pair = { theirs, ours: await callRpc(isRollupMethod(method) ? rollupUrl : url, method, params) }
    const reason = skipReason(pair)
    if (reason !== undefined) {
      skipped.add(method, reason)
      continue
    }
    const verdict = judge(pair, { method, params, head, recorded }, dialect)
    if ('difference' in verdict) different.push(describe(exchange, verdict.difference))
    else if (verdict.causes.length === 0) equal++
    else for (const cause of verdict.causes) divergent.add(method, cause)
  }
  return { equal, divergent: divergent.all, skipped: skipped.all, different }
}
