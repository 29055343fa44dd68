import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { configOfGenesis } from '#block/executionConfig'
import { createExecution } from '#blockchain/execution'
import { l2RefOf } from '#chainspec/l2Ref'
import type { RollupConfig } from '#chainspec/rollupConfig'
import { createWasmEvm } from '#evm/wasmEvm'
import { type ExecutionWorker, type ExecutionWorkerOptions, startExecutionWorker } from '#executionThread/executionThread'
import { type Clock, systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import { startNode } from '#node/node'
import { takeNext } from '#test/harness/flashblocks/takeNext'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import type { Flashblock } from '#types/flashblock'
import type { Payload } from '#types/payload'
import { attributesAt, scheduleTo, signedBy, smallChain } from '../harness/chain/blocks.ts'
import { followConfig } from '../harness/consensus/follow.ts'
import { endlessDeposit, endlessGas, incrementWith, withTransaction } from '../harness/endlessBlocks.ts'
import { engineClient, jwtSecret } from '../harness/engine/server.ts'
import { flashblocksOf } from '../harness/flashblocks/flashblocks.ts'
import { anyPort, nodeOptions } from '../harness/process/nodeOptions.ts'

const base = mkdtempSync(join(tmpdir(), 'basalt-hostile-'))
afterAll(() => rmSync(base, { recursive: true }))

const schedule = scheduleTo('jovian')
const { genesis: small } = smallChain(schedule)
// chain whose gas limit permits an endless block
const genesis = { ...small, header: { ...small.header, gasLimit: endlessGas } }
const config = configOfGenesis(genesis)
const endless = endlessDeposit(endlessGas / 2n)
let dirs = 0
const newDir = (): string => join(base, String(dirs++))
const start = (dir: string, limits: Pick<ExecutionWorkerOptions, 'maxPayloadMs' | 'maxPendingMs'>): Promise<ExecutionWorker> =>
  startExecutionWorker({ clock: systemClock, log: silentLog, genesis: () => genesis }, { dir, config, minFreeBytes: 0, ...limits })

/** Builds a block with a transfer on genesis, with its flashblocks. */
async function honest(): Promise<{ readonly payload: Payload; readonly honestFlashblocks: readonly Flashblock[] }> {
  const deps = { evm: createWasmEvm(), config, genesis: () => genesis, clock: systemClock, log: silentLog }
  await using execution = createExecution({ ...deps, kv: createMemoryKv() })
  const built = await execution.build(config.genesis.l2, { ...attributesAt(schedule, 1, [signedBy('alice', {})]), gasLimit: endlessGas })
  if (built.kind === 'invalid') throw new Error(built.reason)
  return { payload: built.payload, honestFlashblocks: flashblocksOf(execution, built.payload, [1]) }
}

const { payload, honestFlashblocks } = await honest()
const hostilePayload = withTransaction(schedule, payload, endless)
const fresh = (): number => systemClock.nowMs() + 60_000

it('faults/hostileBlocks: runs engine calls before an endless flashblock, and the chain continues', async () => {
  await using worker = await start(newDir(), { maxPayloadMs: 30_000, maxPendingMs: 30_000 })
  const hostile = takeNext(worker, incrementWith(honestFlashblocks[0], endless), fresh())
  await expect.poll(() => worker.running()).toMatchObject({ number: 1 })
  const startMs = performance.now()
  expect(await worker.insert(payload)).toEqual({ kind: 'valid' })
  await worker.setHeads({ ...(await worker.heads()), unsafe: l2RefOf(config, payload) })
  expect(performance.now() - startMs).toBeLessThan(5_000)
  expect(await hostile).toMatchObject({ kind: 'refused', reason: 'time' })
  expect(worker.published.heads.unsafe.number).toBe(1)
  expect(worker.published.pending).toBeUndefined()
  expect(worker.abandonedCounts()).toEqual({ payload: 0, pending: 1 })
})

it('faults/hostileBlocks: reports an endless payload while it runs and after it is abandoned, until a head at its height', async () => {
  await using worker = await start(newDir(), { maxPayloadMs: 1_500 })
  const outcome = worker.insert(hostilePayload).catch((error: unknown) => error)
  await expect.poll(() => worker.running()?.forMs, { timeout: 5_000 }).toBeGreaterThan(500)
  expect(worker.running()).toMatchObject({ number: 1 })
  expect(await outcome).toMatchObject({ name: 'Fault', code: 'BLOCK_NOT_EXECUTED', severity: 'retry' })
  expect(worker.running()).toBeUndefined()
  expect(worker.abandoned()).toMatchObject({ number: 1 })
  expect(await worker.insert(payload)).toEqual({ kind: 'valid' })
  expect(worker.abandoned()).toMatchObject({ number: 1 })
  await worker.setHeads({ ...(await worker.heads()), unsafe: l2RefOf(config, payload) })
  expect(worker.abandoned()).toBeUndefined()
})

it('faults/hostileBlocks: closes during an endless block, and the next start does not execute it', async () => {
  const dir = newDir()
  const worker = await start(dir, { maxPayloadMs: Number.POSITIVE_INFINITY })
  expect(await worker.insert(payload)).toEqual({ kind: 'valid' })
  await worker.setHeads({ ...(await worker.heads()), unsafe: l2RefOf(config, payload) })
  const outcome = worker.insert(hostilePayload).catch((error: unknown) => error)
  await expect.poll(() => worker.running()).toMatchObject({ number: 1 })
  const startMs = performance.now()
  await worker[Symbol.asyncDispose]()
  // the worker ends by itself, before it would be terminated
  expect(performance.now() - startMs).toBeLessThan(4_500)
  expect(await outcome).toMatchObject({ code: 'EXECUTION_CLOSING' })
  await using again = await start(dir, {})
  expect(again.running()).toBeUndefined()
  expect((await again.heads()).unsafe.hash).toBe(payload.blockHash)
})

it('faults/hostileBlocks: names an endless payload of the consensus half in /readyz, and imports the next payload', async () => {
  const rollup: RollupConfig = { ...followConfig, ...config, genesis: { ...followConfig.genesis, ...config.genesis } }
  const listen = { http: anyPort, engine: anyPort }
  const options = nodeOptions(
    { mode: 'execution', datadir: newDir(), listen, jwtSecret: () => jwtSecret, maxPayloadMs: 2_000 },
    {
      config: rollup,
      genesis,
    },
  )
  // this wall clock is ahead, so an execution counts as long after half a second instead of four
  const clock: Clock = { ...systemClock, nowMs: () => systemClock.nowMs() + 3_500 }
  await using node = await startNode({ clock, random: () => 0, fetch, log: silentLog }, options)
  const { http = '', engine = '' } = node.urls
  const problems = async (): Promise<string> => (await fetch(`${http}/readyz`)).text()
  const client = engineClient(engine, rollup)
  const outcome = client.insert(hostilePayload).catch((error: unknown) => error)
  await expect.poll(problems, { timeout: 10_000, interval: 200 }).toMatch(/execution of block 1 has taken \d s/)
  expect((await fetch(`${http}/healthz`)).status).toBe(200)
  expect(await outcome).toMatchObject({ code: 'BLOCK_NOT_EXECUTED', severity: 'retry' })
  expect(await problems()).toMatch(/execution of block 1 was abandoned after \d s/)
  expect(await client.insert(payload)).toEqual({ kind: 'valid' })
  await client.setHeads({ ...(await client.heads()), unsafe: l2RefOf(config, payload) })
  expect(await problems()).toBe('{"ready":true}')
})
