import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Registry } from 'prom-client'
import { afterAll, expect, it } from 'vitest'
import { CompletedEngine, StateCompletion } from '#blockchain/completedEngine'
import { createExecution } from '#blockchain/execution'
import { l2RefOf } from '#chainspec/l2Ref'
import { stateSourceMetrics } from '#l2/metrics'
import { createStateSources } from '#l2/state/stateSources'
import { systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import { openChainKv } from '#store/chainTables'
import type { Kv } from '#store/ports'
import { tables } from '#store/tables'
import { payloadsOf } from '#test/harness/chain/l2Blocks'
import { dump, readNow } from '#test/harness/chain/olderSchemas'
import { sharedEvm } from '#test/harness/evm/sharedEvm'
import { serveRecordedChain } from '#test/harness/rpc/recordedNode'
import { installAnchor } from '#test/harness/snapshot/anchoredChain'
import { executeRecorded } from '#test/harness/snapshot/loadRecorded'

const folder = mkdtempSync(join(tmpdir(), 'basalt-anchored-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const name = 'op-ecotone-to-jovian'
const [anchor, last] = [3, 171]
const stateTables = [tables.accounts, tables.storage, tables.code, tables.accountNodes, tables.storageNodes]

/** Refuses methods, as nodes of other clients do. */
function without(isRefused: (method: string) => boolean): typeof fetch {
  return async (url, init) => {
    const calls = [JSON.parse(String(init?.body))].flat() as { id: number; method: string }[]
    const refused = calls.find(({ method }) => isRefused(method))
    if (refused === undefined) return fetch(url, init)
    const answers = calls.map(({ id }) => ({ jsonrpc: '2.0', id, error: { code: -32_601, message: 'no such method' } }))
    return Response.json(answers.length === 1 ? answers[0] : answers)
  }
}
const isWitness = (method: string): boolean => method.startsWith('debug_executionWitness')
const isOwn = (method: string): boolean => isWitness(method) || method.startsWith('basalt_') || method === 'debug_codeByHash'

/** Damages one in twenty proofs of the first source. */
function lying(send: typeof fetch): typeof fetch {
  let responses = 0
  return async (url, init) => {
    const response = await send(url, init)
    const text = await response.text()
    const isLie = String(url).endsWith('?liar') && ++responses % 20 === 0
    return new Response(isLie ? text.replace(/("proof":\["0x.{80})./, (_, kept) => `${kept}0`) : text, response)
  }
}

/** Follows the recorded chain on a state that knows nothing at first. @returns the metrics of the sources */
async function follow(dir: string, whole: Kv, urls: readonly string[], send: typeof fetch): Promise<Registry> {
  const { chain } = await recorded
  await installAnchor(chain, whole, anchor, dir)
  const registry = new Registry()
  const metrics = stateSourceMetrics.register(registry)
  const source = createStateSources(
    { fetch: send as never, clock: systemClock, log: silentLog, metrics },
    { urls, timeoutMs: 60_000, deadlineMs: 120_000 },
  )
  const { config, genesis } = chain
  await using kv = openChainKv(dir)
  await using execution = createExecution({ kv, evm: sharedEvm, config, genesis: () => genesis, clock: systemClock, log: silentLog })
  const engine = new CompletedEngine(execution, new StateCompletion(execution, source))
  for (const payload of payloadsOf(chain.blocks).slice(anchor + 1)) {
    expect(await engine.insert(payload)).toEqual({ kind: 'valid' })
    await engine.setHeads({ ...(await engine.heads()), unsafe: l2RefOf(config, payload) })
    if (payload.blockNumber % 5 === 0) execution.commit()
  }
  return registry
}

/** Expects each stored row to be that of a node that has executed everything. */
async function expectPart(dir: string, whole: Kv): Promise<void> {
  await using kv = openChainKv(dir)
  const [found, expected] = [kv, whole].map((each) => readNow(each, (reader) => dump(reader, stateTables)))
  expect(found?.size).toBeGreaterThan(1_000)
  for (const [row, value] of found as Map<string, string>) expect([row, value]).toEqual([row, expected?.get(row)])
}

const recorded = executeRecorded(name, last)
const served = recorded.then(({ kv }) => serveRecordedChain(name, kv))
afterAll(async () => (await served)[Symbol.asyncDispose]())

async function metric(registry: Registry, of: string, label: string): Promise<number> {
  const { values } = (await registry.getSingleMetric(`basalt_state_source_${of}_total`)?.get()) ?? { values: [] }
  return values.find(({ labels }) => Object.values(labels).includes(label))?.value ?? 0
}

const ways: readonly [string, typeof fetch, string][] = [
  ['witnesses', fetch, 'witness'],
  ['ranges', without(isWitness), 'proof'],
  ['eth_getProof and eth_getCode', without(isOwn), 'proof'],
]

it.each(ways)(
  'l2/stateSources: a chain on a state that knows nothing at first is followed by %s of another node',
  async (way, send, counted) => {
    const { kv: whole } = await recorded
    const { url } = await served
    const dir = join(folder, way)
    const registry = await follow(dir, whole, [url], send)
    expect(await metric(registry, 'fetches', counted)).toBeGreaterThan(counted === 'witness' ? 30 : 100)
    expect(await metric(registry, 'fetches', counted === 'witness' ? 'proof' : 'witness')).toBe(0)
    await expectPart(dir, whole)
  },
  120_000,
)

it('l2/stateSources: a source that lies once in twenty answers is named in a metric, and nothing of its lie is stored', async () => {
  const { kv: whole } = await recorded
  const { url } = await served
  const dir = join(folder, 'lies')
  const registry = await follow(dir, whole, [`${url}?liar`, url], lying(without(isWitness)))
  expect([await metric(registry, 'lies', '1'), await metric(registry, 'lies', '2')]).toEqual([1, 0])
  await expectPart(dir, whole)
}, 120_000)
