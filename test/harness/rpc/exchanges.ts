import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { zstdDecompressSync } from 'node:zlib'
import { type Dialect, divergence, errorOfTheirs, type RpcErrorJson, resultOfOurs, resultOfReth, resultOfTheirs } from './dialects.ts'
import type { Json } from './json.ts'

export type Outcome = { readonly result: Json } | { readonly error: RpcErrorJson }
/** Recorded request with the outcome of the recording client. */
export type Exchange = { readonly note: string; readonly method: string; readonly params: readonly Json[]; readonly outcome: Outcome }

export type Difference = {
  readonly exchange: Exchange
  readonly path: string
  readonly expected: Json | undefined
  readonly found: Json | undefined
}
export type Comparison = {
  readonly equal: number
  /** Equal outcomes by method; the caller can check that methods were compared at all. */
  readonly equalByMethod: Readonly<Record<string, number>>
  readonly different: readonly Difference[]
  readonly skipped: readonly { readonly exchange: Exchange; readonly reason: string }[]
}

/** Methods that the node offers; recordings of other methods are skipped. */
const offeredMethods: readonly string[] = [
  ...['eth_chainId', 'eth_blockNumber', 'eth_getBlockByNumber', 'eth_getBlockByHash', 'eth_getTransactionByHash'],
  ...['eth_getTransactionReceipt', 'eth_getBlockReceipts', 'eth_getBalance', 'eth_getTransactionCount', 'eth_getCode'],
  ...[
    'eth_getBlockTransactionCountByNumber',
    'eth_estimateGas',
    'eth_createAccessList',
    'eth_simulateV1',
    'eth_gasPrice',
    'eth_maxPriorityFeePerGas',
    'eth_blobBaseFee',
  ],
  ...['eth_feeHistory', 'eth_getFilterChanges', 'eth_accounts', 'net_listening', 'net_peerCount', 'web3_sha3'],
  ...['eth_getTransactionByBlockNumberAndIndex', 'eth_sendRawTransaction', 'txpool_status', 'txpool_content'],
  ...['eth_getStorageAt', 'eth_call', 'eth_getLogs', 'eth_getProof', 'eth_syncing', 'net_version', 'web3_clientVersion'],
  ...['optimism_syncStatus', 'optimism_outputAtBlock', 'optimism_rollupConfig', 'optimism_safeHeadAtL1Block', 'optimism_version'],
  ...['eth_getHeaderByNumber', 'eth_getHeaderByHash', 'eth_getUncleByBlockNumberAndIndex', 'eth_getUncleCountByBlockNumber'],
  ...['eth_getRawTransactionByHash', 'eth_getAccount', 'eth_getAccountInfo', 'eth_protocolVersion', 'eth_coinbase', 'eth_mining'],
  ...['eth_notAMethod', 'optimism_notAMethod'],
]

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

/** Reads all recorded exchanges of a chain folder. */
export function readExchanges(chainDir: string): readonly Exchange[] {
  const dir = join(chainDir, 'rpc')
  const files = readdirSync(dir).filter((name) => /\.io(\.zst)?$/.test(name))
  return files.sort().flatMap((name) => {
    const bytes = readFileSync(join(dir, name))
    return parseExchanges((name.endsWith('.zst') ? zstdDecompressSync(bytes) : bytes).toString('utf8'))
  })
}

/** Dialect of the recording client. */
export function dialectOf(exchanges: readonly Exchange[]): Dialect {
  const version = exchanges.find(({ method }) => method === 'web3_clientVersion')?.outcome
  return version !== undefined && 'result' in version && String(version.result).startsWith('Geth') ? 'op-geth' : 'reth'
}

/** Reason for skipping an exchange; undefined for a comparison. */
export function skipReason({ method, outcome }: Exchange): string | undefined {
  if (!offeredMethods.includes(method)) return 'the method is not offered yet'
  const isMissing = 'error' in outcome && outcome.error.code === -32601
  if (isMissing && !method.endsWith('notAMethod')) return 'the recording client lacks the method'
  return undefined
}

const isContainer = (value: Json | undefined): value is Extract<Json, object> => typeof value === 'object' && value !== null

/** Returns the first difference between two values. The order of members does not matter. */
export function firstDifference(expected: Json | undefined, found: Json | undefined, path = ''): Omit<Difference, 'exchange'> | undefined {
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

const isVersion = (method: string): boolean => method === 'web3_clientVersion' || method === 'optimism_version'

/** In `reth`'s dialect an internal error has no details; this node's may have `data`. */
function compareErrors(expected: RpcErrorJson, found: RpcErrorJson, dialect: Dialect): Omit<Difference, 'exchange'> | undefined {
  const { data, ...rest } = found
  const shownData = dialect === 'op-geth' && typeof data === 'string' ? data.replace(/ at line \d+ column \d+$/, '') : data
  const isSilent = expected.code === -32603 && expected.data === undefined
  return firstDifference(expected, isSilent || shownData === undefined ? rest : { ...rest, data: shownData }, '.error')
}

function expectedOutcome({ method, params, outcome }: Exchange, dialect: Dialect, head: number): Outcome | 'answered' {
  if (dialect === 'reth') return 'result' in outcome ? { result: resultOfReth(method, outcome.result) } : outcome
  const other = divergence(method, params, head)
  if (other === 'answered') return other
  if (other !== undefined) return { error: other }
  return 'error' in outcome ? { error: errorOfTheirs(outcome.error, params) } : { result: resultOfTheirs(method, outcome.result) }
}

/** Compares this node's outcome with the recorded one. @param head number of the latest block */
export function compareOutcome(exchange: Exchange, found: Outcome, dialect: Dialect, head: number): Difference | undefined {
  const { method } = exchange
  const expected = expectedOutcome(exchange, dialect, head)
  const whole = (outcome: Outcome): Json => JSON.parse(JSON.stringify(outcome)) as Json
  const differs = (difference: Omit<Difference, 'exchange'> | undefined): Difference | undefined =>
    difference && { exchange, ...difference }
  if (expected === 'answered') return 'result' in found ? undefined : differs({ path: '', expected: 'a result', found: whole(found) })
  if ('error' in expected && 'error' in found) return differs(compareErrors(expected.error, found.error, dialect))
  if ('error' in expected || 'error' in found) return differs({ path: '', expected: whole(expected), found: whole(found) })
  if (isVersion(method)) return differs(firstDifference('string', typeof found.result, '.result'))
  return differs(firstDifference(expected.result, dialect === 'op-geth' ? resultOfOurs(method, found.result) : found.result, '.result'))
}

/** Sends one request over HTTP. */
export async function callRpc(url: string, method: string, params: readonly Json[]): Promise<Outcome> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  const answer = (await response.json()) as { result?: Json; error?: RpcErrorJson }
  return answer.error === undefined ? { result: answer.result ?? null } : { error: answer.error }
}

const isRollupMethod = (method: string): boolean => method.startsWith('optimism_')

/**
 * Sends a node every recorded request that it should be able to answer.
 * @param url URL of the execution half
 * @param rollupUrl URL of the consensus half
 * @param chainDir folder of the recorded chain, with its `rpc/`
 * @param options.methods only these methods are compared
 */
export async function compareExchanges(
  url: string,
  rollupUrl: string,
  chainDir: string,
  options: { readonly methods?: readonly string[] } = {},
): Promise<Comparison> {
  const all = readExchanges(chainDir)
  const dialect = dialectOf(all)
  const latest = await callRpc(url, 'eth_blockNumber', [])
  const head = 'result' in latest ? Number(latest.result) : Number.NaN
  const different: Difference[] = []
  const skipped: { exchange: Exchange; reason: string }[] = []
  const equalByMethod: Record<string, number> = {}
  for (const exchange of all) {
    const { method, params } = exchange
    if (options.methods !== undefined && !options.methods.includes(method)) continue
    const reason = skipReason(exchange)
    if (reason !== undefined) {
      skipped.push({ exchange, reason })
      continue
    }
    const found = await callRpc(isRollupMethod(method) ? rollupUrl : url, method, params)
    const difference = compareOutcome(exchange, found, dialect, head)
    if (difference !== undefined) different.push(difference)
    else equalByMethod[method] = (equalByMethod[method] ?? 0) + 1
  }
  const equal = Object.values(equalByMethod).reduce((sum, count) => sum + count, 0)
  return { equal, equalByMethod, different, skipped }
}

/** Formats a difference in one line. */
export function describeDifference({ exchange, path, expected, found }: Difference): string {
  const short = (value: Json | undefined): string => (JSON.stringify(value) ?? 'nothing').slice(0, 300)
  return `${exchange.method} ${short(exchange.params)} at ${path || 'the answer'}: expected ${short(expected)}, found ${short(found)}`
}
