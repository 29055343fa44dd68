import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { genesisBlock } from '#block/genesisBlock'
import type { RollupConfig } from '#chainspec/rollupConfig'
import { serveL1 } from '#devnet/l1Server'
import { readRecordedChain } from '#devnet/recordedChain'
import { createRecordedL1 } from '#devnet/recordedL1'
import { type Clock, systemClock } from '#lib/clock'
import { KzgThread } from '#lib/kzg/kzgThread'
import { createLog, silentLog } from '#lib/log'
import { scheduleTo, smallGenesis } from '#test/harness/chain/blocks'
import { rpcCall } from '#test/harness/process/cliProcess'
import { type Node, startNode } from './node.ts'
import type { NodeOptions } from './nodeOptions.ts'

const base = mkdtempSync(join(tmpdir(), 'basalt-start-'))
/** Its set-up takes two seconds of a processor: all nodes share it. */
const kzg = new KzgThread()
afterAll(async () => {
  await kzg[Symbol.asyncDispose]()
  rmSync(base, { recursive: true })
})

const recorded = readRecordedChain('op-bedrock-to-holocene')
const deps = { clock: systemClock, random: () => 0, fetch, log: silentLog, kzg }
/** A chain whose genesis has two accounts, which starts quickly and is never derived. */
const small = smallGenesis(scheduleTo('bedrock'))
const config: RollupConfig = {
  ...recorded.config,
  l2ChainId: 901,
  genesis: { ...recorded.config.genesis, l2: { number: 0, hash: genesisBlock(small, {}).hash }, l2TimeSec: small.header.timestamp },
}
const nowhere = 'http://127.0.0.1:9'
const l1At = (url: string) => ({ rpcUrls: [url], beaconUrls: [url], pollMs: 1_000 })
const host = '127.0.0.1'
const listenOn = (http: number, rollup: number) => ({ http: { host, port: http }, rollup: { host, port: rollup } })
let dirs = 0
const optionsOf = (changes: Partial<NodeOptions>): NodeOptions => ({
  ...{ mode: 'all', config, genesis: () => small, datadir: join(base, String(dirs++)), version: '1.2.3', l1: l1At(nowhere) },
  ...{ listen: listenOn(0, 0), isAdminOn: false, readyMaxLagSec: 30, minFreeBytes: 0 },
  ...changes,
})

async function occupy(): Promise<{ port: number; server: Server }> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  return { port: (server.address() as { port: number }).port, server }
}
const free = (server: Server) => new Promise((resolve) => server.close(resolve))

it('node/node: releases the first port and the data directory when the second port is in use (PORT_IN_USE)', async () => {
  const [taken, first] = [await occupy(), await occupy()]
  await free(first.server)
  const options = optionsOf({ listen: listenOn(first.port, taken.port) })
  await expect(startNode(deps, options)).rejects.toMatchObject({
    ...{ code: 'PORT_IN_USE', severity: 'fatal' },
    data: { flag: 'rollup.port', port: taken.port },
  })
  await free(taken.server)
  await using node = await startNode(deps, options)
  expect(node.urls).toEqual({ http: `http://127.0.0.1:${first.port}`, rollup: `http://127.0.0.1:${taken.port}` })
})

it('node/node: releases the data directory when the genesis is wrong (WRONG_GENESIS)', async () => {
  const options = optionsOf({})
  const wrong = () => smallGenesis(scheduleTo('bedrock'), recorded.genesis.accounts.slice(0, 1))
  await expect(startNode(deps, { ...options, genesis: wrong })).rejects.toMatchObject({ code: 'WRONG_GENESIS' })
  await using node = await startNode(deps, options)
  expect(node.status()?.phase).toBe('starting')
})

it('node/node: refuses a data directory in use, and opens it after the other node stopped (DATADIR_LOCKED)', async () => {
  const options = optionsOf({})
  {
    await using _first = await startNode(deps, options)
    await expect(startNode(deps, options)).rejects.toMatchObject({ code: 'DATADIR_LOCKED' })
  }
  const genesis = () => {
    throw new Error('read again')
  }
  await using again = await startNode(deps, { ...options, genesis })
  expect(await rpcCall(again.urls.http ?? '', 'eth_chainId')).toBe('0x385')
  expect(await rpcCall(again.urls.http ?? '', 'web3_clientVersion')).toMatch(/^basalt\/v1\.2\.3\//)
})

it('node/node: stops with the fault when L1 is another chain (L1_WRONG_CHAIN)', async () => {
  const l1 = createRecordedL1({ ...recorded.l1, chainId: 5 }, { head: 10 })
  await using served = await serveL1((exchange) => l1.reply(exchange), 0)
  await using node = await startNode(deps, optionsOf({ l1: l1At(served.url) }))
  await expect(node.stopped).rejects.toMatchObject({ code: 'L1_WRONG_CHAIN', severity: 'fatal' })
  expect(node.status()).toMatchObject({ phase: 'stopped', fault: { code: 'L1_WRONG_CHAIN' } })
})

it('node/node: stops after derivation ended when the beacon endpoint is of another chain (L1_WRONG_BEACON)', async () => {
  const l1 = createRecordedL1({ ...recorded.l1, genesisTime: 9_999_999_999 }, { head: 10 })
  await using served = await serveL1((exchange) => l1.reply(exchange), 0)
  await using node = await startNode(deps, optionsOf({ config: recorded.config, genesis: () => recorded.genesis, l1: l1At(served.url) }))
  const phase = node.stopped.catch(() => node.status()?.phase)
  await expect(node.stopped).rejects.toMatchObject({ code: 'L1_WRONG_BEACON', severity: 'fatal' })
  expect(await phase).toBe('stopped')
})

it('node: compares the configured blob schedule with the one that L1 reports, and warns of a difference', async () => {
  const { promise: warned, resolve } = Promise.withResolvers<unknown>()
  const log = createLog('warn', { write: (line) => (line.includes('blob schedule') ? resolve(JSON.parse(line)) : undefined) })
  const current = { activationTime: 7, blobSchedule: { target: 14, max: 21, baseFeeUpdateFraction: 11_684_671 } }
  const result = { current: { ...current, chainId: `0x${config.l1ChainId.toString(16)}` } }
  await using served = await serveL1(() => ({ status: 200, body: JSON.stringify({ jsonrpc: '2.0', id: 0, result }) }), 0)
  const clock: Clock = { ...systemClock, after: (ms, run) => systemClock.after(Math.min(ms, 100), run) }
  const l1BlobSchedule = { changes: [{ fromSec: 5, target: 1, max: 2, updateFraction: 3n }] }
  const options = optionsOf({ config: { ...config, l1BlobSchedule }, l1: l1At(served.url) })
  await using _node = await startNode({ ...deps, clock, log }, options)
  expect(await warned).toMatchObject({ activationSec: 7, inUse: 'target 1, max 2, baseFeeUpdateFraction 3' })
})

/** Starts a node on the recorded chain whose L1 publishes a fork that no version knows, right after block 10. */
async function startBeforeFork(l1Url: string, log = silentLog): Promise<Node> {
  const { config: own, genesis } = recorded
  const word = (value: number): string => value.toString(16).padStart(64, '0')
  const times = [...Array<number>(14).fill(0), own.genesis.l2TimeSec + 10 * own.blockTimeSec + 1]
  const result = `0x${[32, times.length, ...times].map(word).join('')}`
  const published = async (): Promise<Response> => {
    await systemClock.delay(300)
    return new Response(JSON.stringify({ jsonrpc: '2.0', id: 0, result }))
  }
  const fetched: typeof fetch = (url, init) => (String(init?.body).includes('eth_call') ? published() : fetch(url, init))
  const named = { ...own, protocolVersions: own.l1SystemConfig }
  const listen = { ...listenOn(0, 0), health: { host, port: 0 } }
  return startNode({ ...deps, log, fetch: fetched }, optionsOf({ config: named, genesis: () => genesis, l1: l1At(l1Url), listen }))
}

it('node/node: stops before a fork that only L1 names, at each start again, and is not ready (UNSUPPORTED_FORK)', async () => {
  const l1 = createRecordedL1(recorded.l1, { head: 16 })
  await using served = await serveL1((exchange) => l1.reply(exchange), 0)
  for (let start = 0; start < 2; start++) {
    await using node = await startBeforeFork(served.url)
    await node.stopped
    expect(node.execution?.published.heads.unsafe).toMatchObject({ number: 10, hash: recorded.blocks[10]?.hash })
    expect(node.problems()).toEqual([expect.stringMatching(/fork 14 of the schedule on L1 .*\(UNSUPPORTED_FORK\)/)])
  }
}, 20_000)

it('node/node: stops derivation before an unsupported fork, serves its chain, is not ready and says why (UNSUPPORTED_FORK)', async () => {
  const l1 = createRecordedL1(recorded.l1, { head: 16 })
  await using served = await serveL1((exchange) => l1.reply(exchange), 0)
  const lines: string[] = []
  const log = createLog('error', { write: (line) => void lines.push(line) })
  await using node = await startBeforeFork(served.url, log)
  await node.stopped

  const { http = '', rollup = '', health = '' } = node.urls
  expect(node.execution?.published.heads.safe).toMatchObject({ number: 10, hash: recorded.blocks[10]?.hash })
  expect(await rpcCall(http, 'eth_getBlockByNumber', ['latest', false])).toMatchObject({ hash: recorded.blocks[10]?.hash })
  expect(await rpcCall(http, 'eth_getBlockByNumber', ['0xb', false])).toBeNull()
  expect(await rpcCall(http, 'eth_syncing')).toMatchObject({ startingBlock: '0x0', currentBlock: '0xa' })
  for (const url of [http, rollup, health]) {
    const [ready, healthy] = [await fetch(`${url}/readyz`), await fetch(`${url}/healthz`)]
    expect([ready.status, healthy.status]).toEqual([503, 200])
    expect(((await ready.json()) as { problems: string[] }).problems).toEqual([
      expect.stringMatching(/fork 14 of the schedule on L1 .*\(UNSUPPORTED_FORK\)/),
    ])
  }
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ code: 'UNSUPPORTED_FORK', fix: expect.stringContaining('install') }])
  expect(node.executedGas()).toBeGreaterThan(0n)
  expect(node.progress()).toMatchObject({ l2Block: 10, l1Target: 16 })
}, 20_000)
