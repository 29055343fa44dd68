import { systemClock } from '#lib/clock'
import { signJwt } from '#lib/jwt'
import type { Json } from '#rpc/json'
import { rollupRegistry, socketRegistry } from '#rpc/methods'
import { engineMethods } from '#rpc/methods/engine/methods'
import type { JsonSchema } from '#rpc/reference/schemas'
import { jwtSecret } from '#test/harness/engine/server'
import type { Random } from '../evm/random.ts'
import { batchFault, fault } from './judge.ts'
import type { GoodParams, Held, TargetUrls } from './messages.ts'
import { grounded, mutated, mutatedBody } from './mutate.ts'
import { createCaller, post, sendBytes } from './wire.ts'

/** Finding with its request. Only the first finding with the same `key` is reported. */
export type Finding = { readonly key: string; readonly why: string; readonly request: string; readonly answer: string }

type Fuzzed = {
  readonly name: string
  readonly port: 'http' | 'rollup' | 'engine'
  readonly params: readonly Json[]
  readonly schema: JsonSchema | undefined
}

const fuzzedOf = (
  port: Fuzzed['port'],
  methods: Iterable<{ name: string; example: { params: readonly Json[] }; result: { schema?: JsonSchema } }>,
): Fuzzed[] => [...methods].map(({ name, example, result }) => ({ name, port, params: example.params, schema: result.schema }))

/** Every method of every server. */
export const fuzzedMethods: readonly Fuzzed[] = [
  ...fuzzedOf('http', socketRegistry.values()),
  ...fuzzedOf('rollup', rollupRegistry.values()),
  ...fuzzedOf('engine', engineMethods),
]

/** Token for the engine port; the other servers ignore it. */
const token = (): string => signJwt(jwtSecret, Math.floor(systemClock.nowMs() / 1_000))

const makesFilter = /^eth_new\w*Filter$/
const ofFilters = ['eth_getFilterChanges', 'eth_getFilterLogs', 'eth_uninstallFilter'] as const
const overSocketOnly: ReadonlySet<string> = new Set(['eth_subscribe', 'eth_unsubscribe'])

/** Parameters of an example, or valid ones, unchanged or wrong in one or several places. */
function paramsFor({ name, params }: Pick<Fuzzed, 'name' | 'params'>, random: Random, held: Held): unknown {
  const good = held.good[name]
  let value: unknown = good !== undefined && random.percent(60) ? random.pick(good) : grounded(params, random, held)
  for (let times = random.below(3); times > 0; times--) value = mutated(value, random)
  return value
}

export type Stepper = {
  step(): Promise<Finding | undefined>
  readonly last: readonly string[]
  /** Names of methods that returned a result at least once. */
  readonly succeeded: ReadonlySet<string>
  close(): void
}

const keptRequests = 12
/** Bounds of JSON that the server parses: a larger body may not nest deeper. */
const [maxLevels, uncheckedBytes] = [128, 1_024]

/** Returns whether the server refuses a request without parsing it, so that its id is unknown. */
const isRefusedUnparsed = (request: string): boolean => Buffer.byteLength(request) > uncheckedBytes && levelsOf(request) > maxLevels

/** Returns the depth of the nested lists and objects in JSON. */
function levelsOf(json: string): number {
  let [level, most] = [0, 0]
  for (const character of json.replaceAll(/"(?:[^"\\]|\\.)*"/g, '')) {
    if (character === '[' || character === '{') most = Math.max(most, ++level)
    else if (character === ']' || character === '}') level--
  }
  return most
}

const shown = (text: string): string => (text.length > 1_500 ? `${text.slice(0, 1_500)}… (${text.length})` : text)

/** Client that sends wrong requests of every kind. @param firstId first request id of this client */
export function createStepper(urls: TargetUrls, given: Held, random: Random, firstId: number): Stepper {
  const filters: (readonly unknown[])[] = []
  /** Includes the filters that this client has created. */
  const held: Held & { readonly good: Record<string, GoodParams[string]> } = { ...given, good: { ...given.good } }
  const caller = createCaller(urls.ws)
  const last: string[] = []
  const succeeded = new Set<string>()
  let nextId = firstId

  function keepFilter(id: unknown): void {
    filters.push([id])
    if (filters.length > keptRequests) filters.shift()
    for (const name of ofFilters) held.good[name] = [...filters]
  }
  const sent = (text: string): string => {
    last.push(shown(text))
    if (last.length > keptRequests) last.shift()
    return text
  }
  const finding = (name: string, why: string | undefined, request: string, answer: string): Finding | undefined =>
    why === undefined
      ? undefined
      : { key: `${name} ${why.slice(0, 60)}`, why: `${name}: the response ${why}`, request: shown(request), answer: shown(answer) }

  async function single(method: Fuzzed): Promise<Finding | undefined> {
    const id = nextId++
    const request = sent(JSON.stringify({ jsonrpc: '2.0', id, method: method.name, params: paramsFor(method, random, held) }))
    // a socket answers such a request without an id, which no call there could wait for
    const isUnparsed = isRefusedUnparsed(request)
    const overSocket = !isUnparsed && (overSocketOnly.has(method.name) || (method.port === 'http' && random.percent(40)))
    const text = overSocket ? await caller.call(id, request) : (await post(urls[method.port], request, token())).text
    const answer: unknown = JSON.parse(text)
    if (typeof answer === 'object' && answer !== null && 'result' in answer) {
      succeeded.add(method.name)
      if (makesFilter.test(method.name)) keepFilter(answer.result)
    }
    const expectedId = isUnparsed ? null : id
    const why = fault(answer, method.schema) ?? ((answer as { id: unknown }).id === expectedId ? undefined : 'has a different id')
    return finding(method.name, why, request, text)
  }

  async function batch(): Promise<Finding | undefined> {
    const items = Array.from({ length: 1 + random.below(6) }, () => {
      const { name, ...rest } = random.pick(fuzzedMethods)
      const isNotification = random.percent(15)
      return {
        jsonrpc: '2.0',
        ...(!isNotification && { id: random.pick([nextId++, `s${nextId}`, null]) }),
        method: name,
        params: paramsFor({ name, ...rest }, random, held),
      }
    })
    const request = sent(JSON.stringify(items))
    const { text } = await post(urls.http, request)
    const ids = items.flatMap((item) => ('id' in item ? [item.id] : []))
    if (text === '') return finding('batch', ids.length === 0 ? undefined : 'is empty', request, text)
    return finding('batch', batchFault(JSON.parse(text), ids), request, text)
  }

  /** Sends arbitrary bytes: the server must respond with an id, or not at all to notifications. */
  async function broken(): Promise<Finding | undefined> {
    const method = random.pick(fuzzedMethods)
    const whole = JSON.stringify({ jsonrpc: '2.0', id: nextId++, method: method.name, params: paramsFor(method, random, held) })
    const request = sent(mutatedBody(whole, random))
    const { status, text } = await post(urls[method.port], request, token())
    if (text === '' && (status === 200 || status === 204) && !/"id"/.test(request)) return undefined
    const answers: unknown = JSON.parse(text)
    for (const answer of Array.isArray(answers) ? answers : [answers]) {
      const found = finding('broken body', fault(answer, undefined), request, text)
      if (found) return found
    }
    return undefined
  }

  /** Sends a request with a wrong envelope. */
  async function envelope(): Promise<Finding | undefined> {
    const { name } = random.pick(fuzzedMethods)
    const id = random.pick([{}, [], true, 1.5, '', -1, null, 2 ** 53, 'x'.repeat(2_000)])
    const params = random.pick([undefined, null, {}, 'x', 1, [[]]])
    const request = sent(
      JSON.stringify({
        jsonrpc: random.pick(['2.0', '1.0', 2, undefined]),
        id,
        method: random.pick([name, '', 'x'.repeat(3_000), 7, null, '__proto__']),
        params,
      }),
    )
    const { text } = await post(urls.http, request)
    const answer: unknown = JSON.parse(text)
    const expected = typeof id === 'string' || typeof id === 'number' ? id : null
    const why =
      fault(answer, undefined) ??
      ((answer as { id: unknown }).id === expected ? undefined : `has the id ${JSON.stringify((answer as { id: unknown }).id)}`)
    return finding('envelope', why, request, text)
  }

  /** Sends invalid HTTP and WebSocket data; the server must still respond afterwards. */
  async function hostileWire(): Promise<Finding | undefined> {
    const head = 'POST / HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n'
    const bytes = random.pick([
      `${head}content-length: 500\r\n\r\n{"jsonrpc"`,
      `${head}content-length: abc\r\n\r\n{}`,
      `${head}transfer-encoding: chunked\r\n\r\nzz\r\n{}`,
      `${head}transfer-encoding: chunked\r\ncontent-length: 5\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
      `${head}expect: 100-continue\r\ncontent-length: 10\r\n\r\n`,
      `GET / HTTP/1.1\r\nhost: x\r\n\r\n`.repeat(20),
      `${'x'.repeat(70_000)}`,
      `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n`,
    ])
    sent(`bytes ${bytes.slice(0, 200)}`)
    if (random.percent(30)) {
      const frame = random.pick([Buffer.from([0xff, 0xfe, 0]), 'not json', '[', '[]', `"${'x'.repeat(100_000)}"`])
      await caller.throwAt(frame).catch(() => {})
    } else await sendBytes(urls.http, bytes, 20 + random.below(200))
    const probe = JSON.stringify({ jsonrpc: '2.0', id: nextId, method: 'net_version', params: [] })
    const { status, text } = await post(urls.http, probe)
    return finding(
      'after a broken connection',
      status === 200 ? fault(JSON.parse(text), undefined) : `has the status ${status}`,
      bytes,
      text,
    )
  }

  async function step(): Promise<Finding | undefined> {
    const kind = random.below(100)
    try {
      if (kind < 75) return await single(random.pick(fuzzedMethods))
      if (kind < 83) return await batch()
      if (kind < 92) return await broken()
      return await (kind < 97 ? envelope() : hostileWire())
    } catch (error) {
      if (error instanceof Error && error.message.startsWith('socket closed')) return undefined // caused by other requests of this client
      return { key: `no answer ${String(error).slice(0, 60)}`, why: `no answer: ${String(error)}`, request: last.at(-1) ?? '', answer: '' }
    }
  }
  return { step, last, succeeded, close: () => caller.close() }
}
