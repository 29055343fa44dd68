import { type Exchange, type L1Server, type Reply, serveL1 } from '#devnet/l1Server'
import { createRecordedL1, type L1Recording, type RecordedL1 } from '#devnet/recordedL1'

/** Failure of an L1 endpoint. */
export type L1FaultKind =
  | 'timeout'
  | 'rate-limit'
  | 'server-error'
  | 'unauthorized'
  | 'truncated'
  | 'not-json'
  | 'other-block'
  | 'wrong-hash'
  | 'wrong-transaction'
  | 'wrong-receipts'
  | 'no-receipts'
  | 'no-blob'
  | 'no-slot'
  /** The endpoint applies only the last of several requested versioned hashes. */
  | 'last-hash'
  | 'no-columns'
  | 'gone'
  | 'short-blob'
  | 'wrong-blob'

export type PlannedFault = {
  readonly kind: L1FaultKind
  /** Number of requests that fail; Infinity for all. */
  readonly times: number
  /** Requests that can fail: matched against method names and path. */
  readonly on?: RegExp
}

export type FaultyL1 = L1Server & {
  readonly l1: RecordedL1
  /** Adds a fault. Faults apply to requests in the order in which they were added. */
  fail(fault: PlannedFault): void
  /** Kinds of faults that have not applied to a request yet. */
  readonly waiting: readonly L1FaultKind[]
  /** Replaces the chain and its head: a reorg. */
  replay(recording: L1Recording, head: number): void
  /** Requests so far, oldest first: method names joined by commas, or the path. */
  readonly asked: readonly string[]
}

type Json = Record<string, unknown>

const askedBy = ({ method, url, body }: Exchange): string => {
  if (method === 'GET') return url.pathname
  const json: unknown = JSON.parse(body)
  return [json]
    .flat()
    .map((call) => (call as Json)['method'])
    .join(',')
}

/** Applies a change to each result of a JSON-RPC response or to each item of a beacon response. */
function alter(reply: Reply, change: (value: Json | string | Json[]) => unknown): Reply {
  const json = JSON.parse(reply.body) as Json | Json[]
  const altered = [json].flat().map((one) => {
    if (one['result'] != null) return { ...one, result: change(one['result'] as Json) }
    if (Array.isArray(one['data'])) return { ...one, data: (one['data'] as Json[]).map((item) => change(item)) }
    return one
  })
  return { ...reply, body: JSON.stringify(Array.isArray(json) ? altered : altered[0]) }
}

const isBlock = (value: unknown): value is Json => typeof value === 'object' && value !== null && 'parentHash' in value
const isReceipts = (value: unknown): value is Json[] => Array.isArray(value) && value.length > 0 && 'cumulativeGasUsed' in value[0]

/** Changes the last digit of a hex text. */
const flip = (hex: string): string => hex.slice(0, -1) + (hex.endsWith('0') ? '1' : '0')
const alterBlob = (item: unknown, change: (blob: string) => string): unknown =>
  typeof item === 'string' ? change(item) : { ...(item as Json), blob: change(String((item as Json)['blob'])) }

const alterations: Partial<Record<L1FaultKind, (value: Json | string | Json[]) => unknown>> = {
  'wrong-hash': (value) => (isBlock(value) ? { ...value, hash: flip(String(value['hash'])) } : value),
  'wrong-transaction': (value) =>
    isBlock(value)
      ? { ...value, transactions: (value['transactions'] as Json[]).map((tx) => (tx['nonce'] ? { ...tx, nonce: '0x7fff' } : tx)) }
      : value,
  'wrong-receipts': (value) => (isReceipts(value) ? value.map((receipt) => ({ ...receipt, cumulativeGasUsed: '0x1' })) : value),
  'no-receipts': (value) => (isReceipts(value) ? null : value),
  'short-blob': (item) => alterBlob(item, (blob) => blob.slice(0, -2)),
  'wrong-blob': (item) => alterBlob(item, (blob) => `0x00${blob.slice(4, -2)}01`),
}

function spoil(kind: L1FaultKind, exchange: Exchange, right: Reply, l1: RecordedL1): Reply | undefined {
  switch (kind) {
    case 'timeout':
      return undefined
    case 'rate-limit':
      return { status: 429, headers: { 'retry-after': '7' }, body: '{}' }
    case 'server-error':
      return { status: 500, body: 'oops' }
    case 'unauthorized':
      return { status: 401, body: '{}' }
    case 'truncated':
      return { ...right, body: right.body.slice(0, right.body.length >> 1) }
    case 'not-json':
      return { status: 200, body: '<html>welcome</html>' }
    case 'other-block':
      return l1.reply({
        ...exchange,
        body: exchange.body.replace(/"0x([0-9a-f]+)"/, (_, hex) => `"0x${(Number.parseInt(hex, 16) - 1).toString(16)}"`),
      })
    case 'no-blob':
      return { status: 200, body: '{"data":[]}' }
    case 'no-columns':
      return { status: 400, body: '{"code":400,"message":"Insufficient data columns to reconstruct blobs"}' }
    case 'last-hash': {
      const url = new URL(exchange.url)
      const last = url.searchParams.getAll('versioned_hashes').at(-1)
      if (last !== undefined) url.searchParams.set('versioned_hashes', last)
      return l1.reply({ ...exchange, url })
    }
    case 'gone':
      return { status: 410, body: '{"code":410,"message":"deprecated"}' }
    case 'no-slot':
      return { status: 404, body: '{"code":404,"message":"NOT_FOUND"}' }
    default:
      return alter(right, alterations[kind] ?? ((value) => value))
  }
}

/** Starts an HTTP server that replays a recorded L1 with the faults that a test adds. */
export async function startFaultyL1(recording: L1Recording, head = recording.blocks.length - 1): Promise<FaultyL1> {
  let l1 = createRecordedL1(recording, { head })
  let planned: { fault: PlannedFault; left: number }[] = []
  const asked: string[] = []

  function nextFault(what: string): L1FaultKind | undefined {
    const plan = planned.find(({ fault }) => fault.on === undefined || fault.on.test(what))
    if (!plan) return undefined
    plan.left--
    if (plan.left <= 0) planned = planned.filter((one) => one !== plan)
    return plan.fault.kind
  }

  const server = await serveL1((exchange) => {
    const what = askedBy(exchange)
    asked.push(what)
    const kind = nextFault(what)
    const right = l1.reply(exchange)
    return kind === undefined ? right : spoil(kind, exchange, right, l1)
  }, 0)
  return {
    url: server.url,
    get l1() {
      return l1
    },
    asked,
    fail(fault) {
      planned.push({ fault, left: fault.times })
    },
    get waiting() {
      return planned.map(({ fault }) => fault.kind)
    },
    replay(other, at) {
      l1 = createRecordedL1(other, { head: at })
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}
