import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { l2RefOf } from '#chainspec/l2Ref'
import { verifyDatabase } from '#database/verify'
import type { ExecutionWorker } from '#executionThread/executionThread'
import { startExecutionWorker } from '#executionThread/executionThread'
import { stateSourceFault } from '#l2/faults'
import { systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import { createSnapshot } from '#snapshot/create/createSnapshot'
import type { StateSource } from '#state/stateSource'
import { payloadsOf } from '../harness/chain/l2Blocks.ts'
import { installAnchor } from '../harness/snapshot/anchoredChain.ts'
import { executeRecorded } from '../harness/snapshot/loadRecorded.ts'
import { WholeNode } from '../harness/state/wholeNode.ts'

const folder = mkdtempSync(join(tmpdir(), 'basalt-partial-thread-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const [anchor, last] = [3, 60]
const recorded = executeRecorded('op-ecotone-to-jovian', last)
const payloads = recorded.then(({ chain }) => payloadsOf(chain.blocks))

async function start(dir: string, state?: StateSource): Promise<ExecutionWorker> {
  const { chain } = await recorded
  const { config, genesis } = chain
  return startExecutionWorker(
    { clock: systemClock, log: silentLog, genesis: () => genesis, ...(state && { state }) },
    { dir, config, minFreeBytes: 0 },
  )
}

async function newAnchor(name: string): Promise<string> {
  const { chain, kv } = await recorded
  const dir = join(folder, name, 'chain')
  await installAnchor(chain, kv, anchor, dir)
  return dir
}

async function follow(worker: ExecutionWorker, from: number, to: number): Promise<void> {
  const { chain } = await recorded
  for (const payload of (await payloads).slice(from, to + 1)) {
    expect(await worker.insert(payload)).toEqual({ kind: 'valid' })
    await worker.setHeads({ ...(await worker.heads()), unsafe: l2RefOf(chain.config, payload) })
  }
}

it('faults/partialState: the execution thread requests what a block lacks, and continues after a restart', async () => {
  const dir = await newAnchor('thread')
  const source = new WholeNode((await recorded).kv)
  for (const [from, to] of [
    [anchor + 1, 30],
    [31, last],
  ] as const) {
    await using worker = await start(dir, source)
    await follow(worker, from, to)
    expect(worker.published.heads.unsafe.hash).toBe((await payloads)[to]?.blockHash)
  }
  expect(source.requests.length).toBeGreaterThan(30)
}, 120_000)

it('faults/partialState: a block waits for sources, which fail at first (STATE_UNAVAILABLE)', async () => {
  const dir = await newAnchor('failing')
  const whole = new WholeNode((await recorded).kv)
  let failures = 3
  const source: StateSource = {
    async fetch(request) {
      if (failures-- > 0) throw stateSourceFault('STATE_UNAVAILABLE', { part: 'it', number: request.at.number, reason: 'a test' })
      return whole.fetch(request)
    },
  }
  await using worker = await start(dir, source)
  const payload = (await payloads)[anchor + 1]
  if (payload === undefined) expect.fail()
  const refusal = { code: 'STATE_UNAVAILABLE', severity: 'retry' }
  for (let i = 0; i < 3; i++) await expect(worker.insert(payload)).rejects.toMatchObject(refusal)
  expect(await worker.insert(payload)).toEqual({ kind: 'valid' })
}, 120_000)

it('faults/partialState: a thread that closes ends the calls that wait for a source (EXECUTION_CLOSING)', async () => {
  const dir = await newAnchor('closing')
  const payload = (await payloads)[anchor + 1]
  if (payload === undefined) expect.fail()
  const asked = Promise.withResolvers<void>()
  const source: StateSource = {
    fetch() {
      asked.resolve()
      return new Promise(() => {})
    },
  }
  const worker = await start(dir, source)
  const ended = expect(worker.insert(payload)).rejects.toMatchObject({ code: 'EXECUTION_CLOSING' })
  await asked.promise
  await worker[Symbol.asyncDispose]()
  await ended
}, 120_000)

it('faults/partialState: without a source a block that lacks a part names the flag (STATE_INCOMPLETE)', async () => {
  const dir = await newAnchor('alone')
  await using worker = await start(dir)
  const payload = (await payloads)[anchor + 1]
  if (payload === undefined) expect.fail()
  await expect(worker.insert(payload)).rejects.toMatchObject({ code: 'STATE_INCOMPLETE', fix: expect.stringContaining('--source.state') })
}, 120_000)

it('faults/partialState: a snapshot and a verification need the whole state (STATE_INCOMPLETE)', async () => {
  const chainDir = await newAnchor('whole')
  const { config } = (await recorded).chain
  const watch = { signal: new AbortController().signal, onProgress: (): void => {} }
  const key = generateKeyPairSync('ed25519').privateKey
  const options = { chainDir, out: join(folder, 'snapshot'), config, flavour: 'minimal', key } as const
  await expect(createSnapshot(watch, options)).rejects.toMatchObject({ code: 'STATE_INCOMPLETE' })
  await expect(verifyDatabase({ ...watch, clock: systemClock }, { datadir: join(folder, 'whole') })).rejects.toMatchObject({
    code: 'STATE_INCOMPLETE',
  })
})
