import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { keccak256, toRlp } from 'viem'
import { describe, expect, it } from 'vitest'
import { l2RefOf } from '#chainspec/l2Ref'
import { createEngineHttp } from '#engine/engineHttp'
import { parseAttributes } from '#engine/payloadJson'
import { systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import { openExecution } from '#test/contract/engine'
import { chainStart, scheduleTo, smallChain } from '#test/harness/chain/blocks'
import { jwtSecret, post, serveEngine } from '#test/harness/engine/server'
import type { Json, JsonObject } from '#test/harness/rpc/json'
import type { Payload } from '#types/payload'

/** Azul begins with block 2. */
const chain = smallChain(scheduleTo('jovian', { azul: chainStart + 4 }))
const { config } = chain

type Exchange = { readonly method: string; readonly params: Json; readonly answer: JsonObject }
type Dialogue = { readonly exchanges: readonly Exchange[]; readonly names: Map<string, Json> }

const isObject = (value: Json | undefined): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value)

function readDialogue(): Dialogue {
  const names = new Map<string, Json>([['hash0', config.genesis.l2.hash]])
  const exchanges: Exchange[] = []
  let asked: { method: string; params: Json } | undefined
  for (const line of readFileSync(resolve(import.meta.dirname, '../fixtures/engine-azul.txt'), 'utf8').split('\n')) {
    const [mark, name = ''] = line.split(' ', 2)
    const rest = line.slice(`${mark} ${name} `.length)
    if (mark === '=') names.set(name, JSON.parse(rest) as Json)
    if (mark === '>>') asked = { method: name, params: JSON.parse(rest) as Json }
    if (mark === '<<' && asked) exchanges.push({ ...asked, answer: JSON.parse(line.slice(3)) as JsonObject })
  }
  return { exchanges, names }
}

/** Replaces the names in a written value by their values. */
function filled(names: Dialogue['names'], value: Json): Json {
  if (typeof value === 'string' && value.startsWith('$'))
    return filled(names, names.get(value.slice(1)) ?? expect.fail(`${value} is not known yet`))
  if (Array.isArray(value)) return value.map((item) => filled(names, item))
  return isObject(value) ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, filled(names, item)])) : value
}

/** Compares a received value with the written one. Names without a value take the received one. */
function hold(names: Dialogue['names'], written: Json, came: Json | undefined, path: string): void {
  if (typeof written === 'string' && written.startsWith('$')) {
    const name = written.slice(1)
    const known = names.get(name)
    if (known !== undefined) hold(names, known, came, path)
    else if (name !== '') names.set(name, came ?? expect.fail(`${path} is missing`))
  } else if (isObject(written) && isObject(came)) {
    expect([path, Object.keys(came).sort()]).toEqual([path, Object.keys(written).sort()])
    for (const [key, item] of Object.entries(written)) hold(names, item, came[key], `${path}.${key}`)
  } else if (Array.isArray(written) && Array.isArray(came)) {
    expect([path, came.length]).toEqual([path, written.length])
    written.forEach((item, at) => void hold(names, item, came[at], `${path}.${at}`))
  } else expect([path, came]).toEqual([path, written])
}

/** Hash of the header by another library's RLP and keccak. */
function hashOfHeader(payload: JsonObject, parentBeaconBlockRoot: string, transactionsRoot: string): string {
  const text = (name: string): `0x${string}` => payload[name] as `0x${string}`
  const number = (name: string): `0x${string}` => (BigInt(text(name)) === 0n ? '0x' : `0x${evenHex(BigInt(text(name)))}`)
  const emptyOmmers = '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347'
  const emptyRequests = '0xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
  const emptyTrie = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421'
  return keccak256(
    toRlp([
      ...[text('parentHash'), emptyOmmers, text('feeRecipient'), text('stateRoot'), transactionsRoot, text('receiptsRoot')],
      ...[text('logsBloom'), '0x', number('blockNumber'), number('gasLimit'), number('gasUsed'), number('timestamp'), text('extraData')],
      ...[text('prevRandao'), '0x0000000000000000', number('baseFeePerGas'), emptyTrie, number('blobGasUsed'), number('excessBlobGas')],
      ...[parentBeaconBlockRoot, emptyRequests],
    ] as `0x${string}`[]),
  )
}
const evenHex = (value: bigint): string => (value.toString(16).length % 2 === 0 ? value.toString(16) : `0${value.toString(16)}`)

async function serve() {
  const execution = openExecution(chain)
  const server = await serveEngine({ execution, engine: execution, config })
  return Object.assign(server, { execution })
}

describe('engine: Engine API around Azul, written by hand from the reference', () => {
  it('execution half: responds as written, to getPayloadV4 for the block before and V5 for the first and the next', async () => {
    await using server = await serve()
    const { exchanges, names } = readDialogue()
    for (const [at, { method, params, answer }] of exchanges.entries()) {
      const { json } = await post(server.url, { jsonrpc: '2.0', id: 1, method, params: filled(names, params) })
      const { result, error } = json as { result?: Json; error?: { code: number } }
      hold(names, answer, error === undefined ? { result: result ?? null } : { error: { code: error.code } }, `${at} ${method}`)
    }
    expect(exchanges.filter(({ method }) => method === 'engine_getPayloadV5')).toHaveLength(3)
    for (const number of [1, 2, 3]) {
      const payload = filled(names, `$payload${number}`) as JsonObject
      const { transactionsRoot } = (await server.execution.payload(number)) ? headerAt(server, number) : expect.fail()
      expect(payload['blockHash']).toBe(hashOfHeader(payload, `0x${`b${number}`.padStart(64, '0')}`, transactionsRoot))
    }
  })

  it('consensus half: sends the written requests for these blocks', async () => {
    await using server = await serve()
    const { exchanges, names } = readDialogue()
    const asked: { readonly method: string; readonly params: readonly Json[] }[] = []
    const keep: typeof fetch = (url, init) => {
      asked.push(JSON.parse(String(init?.body)) as (typeof asked)[number])
      return fetch(url, init)
    }
    const deps = { fetch: keep, clock: systemClock, log: silentLog }
    const engine = createEngineHttp(deps, { url: server.url, jwtSecret: () => jwtSecret, config, timeoutMs: 5_000 })
    let parent = (await engine.heads()).unsafe
    for (const number of [1, 2, 3]) {
      asked.length = 0
      const built = await engine.build(parent, parseAttributes(filled(names, `$attributes${number}`)))
      const payload: Payload = built.kind === 'built' ? built.payload : expect.fail(built.reason)
      const [begin = expect.fail(), get = expect.fail(), insert = expect.fail()] = asked
      const version = number === 1 ? 'V4' : 'V5'
      expect(asked.map(({ method }) => method)).toEqual([
        'engine_forkchoiceUpdatedV3',
        `engine_getPayload${version}`,
        'engine_newPayloadV4',
      ])
      for (const one of [begin, get, insert]) expect(exchanges.map(({ method }) => method)).toContain(one.method)
      expect(begin.params[1]).toEqual(filled(names, `$attributes${number}`))
      names.set(`hash${number}`, payload.blockHash)
      const written = exchanges.findLast(
        ({ method, params }) => method === 'engine_newPayloadV4' && (params as Json[])[0] === `$payload${number}`,
      )
      const writtenParams = (written?.params ?? expect.fail()) as readonly Json[]
      expect(insert.params.slice(1)).toEqual(writtenParams.slice(1))
      hold(names, writtenParams[0] ?? null, insert.params[0], `payload${number}`)
      parent = l2RefOf(config, payload)
    }
  })
})

function headerAt(server: Awaited<ReturnType<typeof serve>>, number: number): { readonly transactionsRoot: string } {
  using view = server.execution.view()
  const hash = view.canonicalHash(number) ?? expect.fail()
  return view.header(hash) ?? expect.fail()
}
