import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { payloadOfBlock } from '#block/execution/payloadBlock'
import { l2RefOf } from '#chainspec/l2Ref'
import { serveL1 } from '#devnet/l1Server'
import { readRecordedChain } from '#devnet/recordedChain'
import { createRecordedL1 } from '#devnet/recordedL1'
import { encodePayload } from '#engine/payloadJson'
import { type Clock, systemClock } from '#lib/clock'
import { KzgThread } from '#lib/kzg/kzgThread'
import { createLog, silentLog } from '#lib/log'
import { engineClient } from '#test/harness/engine/server'
import { rpcCall } from '#test/harness/process/cliProcess'
import { anyPort, l1At, nodeOptions } from '#test/harness/process/nodeOptions'
import { startProxy } from '#test/harness/process/proxy'
import { decodeBlock } from '#types/block'
import { type Node, startNode } from './node.ts'
import type { NodeOptions } from './nodeOptions.ts'

const base = mkdtempSync(join(tmpdir(), 'basalt-modes-'))
/** Its set-up takes two seconds of a processor: all nodes share it. */
const kzg = new KzgThread()
afterAll(async () => {
  await kzg[Symbol.asyncDispose]()
  rmSync(base, { recursive: true })
})

const chain = readRecordedChain('op-bedrock-to-holocene')
const last = chain.blocks.length - 1
const deps = { clock: systemClock, random: () => 0, fetch, log: silentLog, kzg }
const jwtSecret = () => new Uint8Array(32).fill(7)
let dirs = 0
const datadir = (): string => join(base, String(dirs++))

const execution = (changes: Partial<NodeOptions> = {}): NodeOptions =>
  nodeOptions({ mode: 'execution', datadir: datadir(), jwtSecret, listen: { http: anyPort, engine: anyPort }, ...changes }, chain)
const consensus = (url: string, l1: string, changes: Partial<NodeOptions> = {}): NodeOptions =>
  nodeOptions(
    { mode: 'consensus', datadir: datadir(), jwtSecret, engine: { url }, l1: l1At(l1), listen: { rollup: anyPort }, ...changes },
    chain,
  )

async function serveRecordedL1(head: number): Promise<{ url: string; reveal(head: number): void } & AsyncDisposable> {
  const l1 = createRecordedL1(chain.l1, { head })
  const served = await serveL1((exchange) => l1.reply(exchange), 0)
  return { url: served.url, reveal: (to) => l1.reveal(to), [Symbol.asyncDispose]: () => served[Symbol.asyncDispose]() }
}

async function until(isThere: () => boolean, ...nodes: Node[]): Promise<void> {
  for (let waited = 0; !isThere(); waited += 20) {
    if (waited > 20_000) throw new Error(`stuck: ${JSON.stringify(nodes.map((node) => [node.status(), node.problems()]))}`)
    await Promise.race([systemClock.delay(20), ...nodes.map(({ stopped }) => stopped)])
  }
}
const safeOf = (node: Node): number => node.execution?.published.heads.safe.number ?? -1

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}

it('node/modes: derives the recorded chain with two halves over HTTP, each with the methods of its ports', async () => {
  await using l1 = await serveRecordedL1(chain.l1.blocks.length - 1)
  await using half = await startNode(deps, execution())
  const { http = '', engine = '' } = half.urls
  expect(half.problems()).toEqual(['no consensus half has called since the start'])
  expect(await rpcCall(http, 'eth_syncing')).toEqual({ startingBlock: '0x0', currentBlock: '0x0', highestBlock: '0x0' })
  await using driver = await startNode(deps, consensus(engine, l1.url))
  await until(() => safeOf(half) === last, half, driver)

  {
    using view = (half.execution ?? expect.fail()).view()
    expect(chain.blocks.map((_, number) => view.canonicalHash(number))).toEqual(chain.blocks.map(({ hash }) => hash))
  }
  await until(() => driver.problems().length === 0, driver)
  expect(half.problems()).toEqual([])
  const { rollup = '' } = driver.urls
  expect(await rpcCall(http, 'eth_syncing')).toBe(false)
  expect(await rpcCall(rollup, 'optimism_syncStatus')).toMatchObject({ safe_l2: { number: last, hash: chain.blocks[last]?.hash } })
  const output = (await rpcCall(rollup, 'optimism_outputAtBlock', ['0x2'])) as { outputRoot: string }
  expect(output.outputRoot).toBe('0xbdd0ba72642d2e6fc199f6b759d0508cb53acc9f1327a9bd770b508776972e9e')
  for (const url of [http, rollup]) expect((await fetch(`${url}/readyz`)).status).toBe(200)
  expect((await fetch(engine, { method: 'POST', body: '{}' })).status).toBe(401)
  expect([half.status(), driver.execution, driver.urls.http]).toEqual([undefined, undefined, undefined])
}, 60_000)

it('node/modes: waits for the engine as a consensus half, reports that, and continues each time the engine is back', async () => {
  await using l1 = await serveRecordedL1(20)
  const port = await freePort()
  const options = execution({ listen: { engine: { host: '127.0.0.1', port } } })
  const hasty: Clock = {
    ...systemClock,
    delay: (ms, signal) => systemClock.delay(ms / 4, signal),
    after: (ms, run) => systemClock.after(ms / 4, run),
  }
  await using driver = await startNode({ ...deps, clock: hasty }, consensus(`http://127.0.0.1:${port}`, l1.url))
  await until(() => driver.status()?.wait?.reason === 'engine', driver)
  expect(driver.problems()).toEqual([expect.stringMatching(/^derivation has not started: .*\(ENGINE_UNREACHABLE\)$/)])
  const safe = (number: number): number => chain.safeHeads[number] ?? -1
  {
    await using half = await startNode(deps, options)
    await until(() => safeOf(half) === safe(20), half, driver)
  }
  const { rollup = '' } = driver.urls
  await expect(rpcCall(rollup, 'optimism_outputAtBlock', ['0x2'])).rejects.toThrow(/-32002.*the execution half at .* does not answer/)
  l1.reveal(40)
  await until(() => driver.status()?.wait?.reason === 'engine', driver)
  await using again = await startNode(deps, options)
  expect(safeOf(again)).toBe(safe(20))
  await until(() => safeOf(again) === safe(40), again, driver)
}, 60_000)

it('node/modes: waits while the secret differs, and ends when the engine has another chain (ENGINE_UNAUTHORIZED, ENGINE_WRONG_CHAIN)', async () => {
  await using l1 = await serveRecordedL1(3)
  const lines: string[] = []
  const log = createLog('info', { write: (line) => void lines.push(line) })
  await using half = await startNode({ ...deps, log }, execution())
  const { engine = '' } = half.urls
  {
    await using stranger = await startNode(deps, consensus(engine, l1.url, { jwtSecret: () => new Uint8Array(32) }))
    await until(() => stranger.problems().some((problem) => problem.includes('ENGINE_UNAUTHORIZED')), stranger)
    expect(lines.filter((line) => line.includes('token on the engine port refused'))).toHaveLength(1)
  }
  await using other = await startNode(deps, consensus(engine, l1.url, { config: { ...chain.config, l2ChainId: 5 } }))
  await expect(other.stopped).rejects.toMatchObject({ code: 'ENGINE_WRONG_CHAIN', severity: 'fatal' })
}, 60_000)

it('node/modes: ends a consensus half at once while its engine does not answer', async () => {
  await using l1 = await serveRecordedL1(3)
  await using half = await startNode(deps, execution())
  await using proxy = await startProxy(Number(new URL(half.urls.engine ?? '').port))
  // without blobs: the thread that checks them cannot be ended during its set-up
  const l1Options = { ...l1At(l1.url), beaconUrls: [] }
  const driver = await startNode(deps, consensus(`http://127.0.0.1:${proxy.port}`, l1.url, { l1: l1Options }))
  await until(() => driver.status()?.wait?.reason === 'l1-head', driver)
  proxy.setMode({ kind: 'stall' })
  l1.reveal(40)
  await until(() => driver.status()?.wait?.reason === 'engine', driver)
  const startMs = systemClock.elapsedMs()
  await driver[Symbol.asyncDispose]()
  expect(systemClock.elapsedMs() - startMs).toBeLessThan(3_000)
}, 60_000)

it('node/modes: ends an execution half whose store fails in a call of the consensus half (STORE_FAILED)', async () => {
  const options = execution()
  await using half = await startNode(deps, options)
  const engine = engineClient(half.urls.engine ?? '', chain.config, jwtSecret())
  const payloadAt = (number: number) => {
    const { raw, hash } = chain.blocks[number] ?? expect.fail()
    return payloadOfBlock(decodeBlock(raw), hash)
  }
  expect(await engine.insert(payloadAt(1))).toEqual({ kind: 'valid' })
  await engine.setHeads({ ...(await engine.heads()), unsafe: l2RefOf(chain.config, payloadAt(1)) })
  // after the commit the journal opens its next file
  await until(() => half.execution?.published.committed.number === 1, half)
  rmSync(join(options.datadir, 'chain'), { recursive: true })
  await expect(engine.insert(payloadAt(2))).rejects.toMatchObject({ code: 'ENGINE_ERROR' })
  await expect(half.stopped).rejects.toMatchObject({ code: 'STORE_FAILED', severity: 'fatal' })
}, 60_000)

/** A recorded block in the form that op-node posts. */
function envelopeOf(number: number): Record<string, unknown> {
  const { raw, hash } = chain.blocks[number] ?? expect.fail()
  const payload = payloadOfBlock(decodeBlock(raw), hash)
  return { executionPayload: encodePayload(payload), parentBeaconBlockRoot: payload.parentBeaconBlockRoot ?? null }
}

it('node/modes: lets an operator post unsafe blocks and change the log level when admin is on', async () => {
  await using l1 = await serveRecordedL1(3)
  const lines: string[] = []
  const log = createLog('error', { write: (line) => void lines.push(line) })
  const options = nodeOptions({ mode: 'all', datadir: datadir(), l1: l1At(l1.url), listen: { rollup: anyPort, metrics: anyPort } }, chain)
  await using node = await startNode({ ...deps, log }, { ...options, isAdminOn: true })
  const { rollup = '', metrics = '' } = node.urls
  await until(() => node.status()?.heads !== undefined, node)
  const post = (number: number) => rpcCall(rollup, 'admin_postUnsafePayload', [envelopeOf(number)])
  for (const number of [1, 2, 3]) expect(await post(number)).toBeNull()
  expect(node.execution?.published.heads).toMatchObject({ unsafe: { number: 3, hash: chain.blocks[3]?.hash }, safe: { number: 0 } })
  await expect(post(9)).rejects.toThrow(/-32000.*parent, block 8/)
  const wrong = { ...envelopeOf(4), executionPayload: { ...(envelopeOf(4)['executionPayload'] as object), gasUsed: '0x5' } }
  await expect(rpcCall(rollup, 'admin_postUnsafePayload', [wrong])).rejects.toThrow(/-32000/)
  await expect(rpcCall(rollup, 'admin_postUnsafePayload', [{ executionPayload: 7 }])).rejects.toThrow(/-32602/)
  expect(node.execution?.published.heads.unsafe.number).toBe(3)

  await expect(rpcCall(rollup, 'admin_setLogLevel', ['loud'])).rejects.toThrow(/-32602/)
  expect(await rpcCall(rollup, 'admin_setLogLevel', ['debug'])).toBeNull()
  await post(4)
  expect(lines.some((line) => line.includes('"block executed"') && line.includes('"number":4'))).toBe(true)

  const text = await (await fetch(`${metrics}/metrics`)).text()
  expect(text).toMatch(/^basalt_execution_blocks_total [4-9]$/m)
  expect(text).toMatch(/^basalt_execution_journal_bytes [1-9]\d*$/m)
  expect(text).toMatch(/^basalt_node_loop_lag_seconds\{quantile="1"\} /m)
  expect((await fetch(`${metrics}/healthz`)).status).toBe(200)
}, 60_000)

it('node/modes: has no admin methods without the flag', async () => {
  const options = nodeOptions({ mode: 'all', datadir: datadir(), l1: l1At('http://127.0.0.1:9'), listen: { rollup: anyPort } }, chain)
  await using node = await startNode(deps, options)
  await expect(rpcCall(node.urls.rollup ?? '', 'admin_postUnsafePayload', [envelopeOf(1)])).rejects.toThrow(/-32601/)
}, 60_000)

it.each<[string, Partial<NodeOptions>, string]>([
  ['no source of blocks', { mode: 'all' }, 'OPTION_MISSING'],
  ['a consensus half without an engine', { mode: 'consensus', l1: l1At('http://127.0.0.1:9') }, 'OPTION_MISSING'],
  ['an engine port without a secret', { mode: 'execution', listen: { engine: anyPort } }, 'OPTION_MISSING'],
  ['two masters', { mode: 'all', l1: l1At('http://127.0.0.1:9'), jwtSecret, listen: { engine: anyPort } }, 'OPTION_UNSUPPORTED'],
])('node/modes: refuses %s before anything starts', async (_case, changes, code) => {
  await expect(startNode(deps, nodeOptions({ datadir: datadir(), mode: 'all', ...changes }, chain))).rejects.toMatchObject({ code })
})
