import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it, vi } from 'vitest'
import { l2RefOf } from '#chainspec/l2Ref'
import type { Heads } from '#engine/port'
import { startExecutionWorker } from '#executionThread/executionThread'
import { systemClock } from '#lib/clock'
import { toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { silentLog } from '#lib/log'
import { startNode } from '#node/node'
import type { L2Ref } from '#types/blockRef'
import { hashHeader } from '#types/header'
import type { Payload } from '#types/payload'
import { attributesAt, scheduleTo, signedBy, smallChain } from '../harness/chain/blocks.ts'
import { testAddress } from '../harness/evm/sessions.ts'
import { startMortal } from '../harness/process/mortalThread.ts'
import { l1At, nodeOptions } from '../harness/process/nodeOptions.ts'
import { sampleOf } from '../harness/sample.ts'

vi.mock('node:worker_threads', async (original) => ({
  ...(await original<typeof import('node:worker_threads')>()),
  Worker: (await import('../harness/process/mortalThread.ts')).MortalWorker,
}))

const base = mkdtempSync(join(tmpdir(), 'basalt-worker-'))
afterAll(() => rmSync(base, { recursive: true }))

const schedule = scheduleTo('isthmus')
const { genesis, config } = smallChain(schedule)
let dirs = 0
const newDir = (): string => join(base, String(dirs++))
const deps = { clock: systemClock, log: silentLog, genesis: () => genesis }
const start = (dir: string, changes: Partial<typeof deps> = {}) =>
  startExecutionWorker({ ...deps, ...changes }, { dir, config, minFreeBytes: 0 })

async function extend(engine: Awaited<ReturnType<typeof start>>, parent: L2Ref, nonce?: bigint, branch = 0): Promise<Payload> {
  const transactions = nonce === undefined ? [] : [signedBy('alice', { nonce })]
  const result = await engine.build(parent, attributesAt(schedule, parent.number + 1, transactions, branch))
  return result.kind === 'built' ? result.payload : expect.fail()
}

it('faults/executionWorker: keeps acknowledged blocks over a clean end, and does not request the genesis again', async () => {
  const dir = newDir()
  let head: L2Ref
  {
    await using worker = await start(dir)
    const heads = await worker.heads()
    head = l2RefOf(config, await extend(worker, heads.unsafe))
    await worker.setHeads({ ...heads, unsafe: head })
  }
  const closedMs = performance.now()
  const unread = () => {
    throw new Error('read again')
  }
  await using again = await start(dir, { genesis: unread })
  expect(await again.heads()).toMatchObject({ unsafe: head })
  expect(performance.now() - closedMs).toBeLessThan(5_000)
  expect(existsSync(join(dir, 'journal'))).toBe(true)
})

it.each([
  [
    'another process uses the directory',
    'DATADIR_LOCKED',
    async () => {
      const dir = newDir()
      const first = await start(dir)
      return { begin: () => start(dir), end: () => first[Symbol.asyncDispose]() }
    },
  ],
  [
    'the directory is below a file',
    'DATADIR_UNWRITABLE',
    async () => {
      const file = newDir()
      writeFileSync(file, '')
      return { begin: () => start(join(file, 'chain')), end: async () => {} }
    },
  ],
  [
    'the directory belongs to another chain',
    'GENESIS_MISMATCH',
    async () => {
      const dir = newDir()
      await (await start(dir))[Symbol.asyncDispose]()
      const other = { ...config, genesis: { ...config.genesis, l2: { ...config.genesis.l2, hash: `0x${'11'.repeat(32)}` as const } } }
      return { begin: () => startExecutionWorker(deps, { dir, config: other as typeof config, minFreeBytes: 0 }), end: async () => {} }
    },
  ],
])('faults/executionWorker: fails to start with the matching fault when %s (%s)', async (_what, code, prepare) => {
  const { begin, end } = await prepare()
  await expect(begin()).rejects.toMatchObject({ name: 'Fault', code, severity: 'fatal', fix: expect.any(String) })
  await end()
})

it('faults/executionWorker: fails to start with the error of an unreadable genesis, and releases the directory', async () => {
  const dir = newDir()
  const unreadable = () => {
    throw new RangeError('no such file')
  }
  await expect(start(dir, { genesis: unreadable })).rejects.toMatchObject({ name: 'RangeError', message: 'no such file' })
  await using worker = await start(dir)
  expect((await worker.heads()).unsafe.number).toBe(0)
})

it('faults/executionWorker: ends current and later calls at once when the thread dies (EXECUTION_STOPPED)', async () => {
  const dir = newDir()
  await (await start(dir))[Symbol.asyncDispose]()
  const { started: worker, endExecution } = await startMortal(() => start(dir))
  const calls = Promise.allSettled(Array.from({ length: 50 }, () => worker.heads()))
  await endExecution()
  const stopped = { code: 'EXECUTION_STOPPED', severity: 'fatal' }
  await expect(worker.ended).rejects.toMatchObject(stopped)
  for (const call of await calls) if (call.status === 'rejected') expect(call.reason).toMatchObject(stopped)
  await expect(worker.payload(0)).rejects.toMatchObject(stopped)
  expect(() => worker.view()).toThrow(expect.objectContaining(stopped))
  await worker[Symbol.asyncDispose]()
})

it('faults/executionWorker: ends the node with the same fault when the thread dies (EXECUTION_STOPPED)', async () => {
  const options = nodeOptions({ mode: 'all', datadir: newDir(), l1: { ...l1At('http://127.0.0.1:9'), beaconUrls: [] } })
  const startIt = () => startNode({ ...deps, random: () => 0, fetch }, options)
  await (await startIt())[Symbol.asyncDispose]()
  const { started: node, endExecution } = await startMortal(startIt)
  await endExecution()
  await expect(node.stopped).rejects.toMatchObject({ code: 'EXECUTION_STOPPED', fix: expect.stringContaining('start the node again') })
  await node[Symbol.asyncDispose]()
})

/** Checks that all reads of a view belong to its head, down to the trie. */
function checkView(worker: Awaited<ReturnType<typeof start>>, noncesAt: ReadonlyMap<string, bigint>): number {
  using view = worker.view()
  const { latest } = view.heads
  const header = view.header(latest.hash) ?? expect.fail(`no header of ${latest.number}`)
  expect(hashHeader(header)).toBe(latest.hash)
  expect([view.canonicalHash(latest.number), view.canonicalHash(latest.number + 1)]).toEqual([latest.hash, undefined])
  const alice = testAddress(0x77)
  const state = view.state(latest) ?? expect.fail(`no state of ${latest.number}`)
  const { account, proof } = state.prove(alice, [])
  expect(toHex(keccak256(proof[0] ?? new Uint8Array(0)))).toBe(header.stateRoot)
  // each block with a transaction transfers one wei
  expect(account?.balance ?? 0n).toBe(noncesAt.get(latest.hash))
  let { parentHash, number } = header
  for (let depth = 0; depth < 3 && number > 0; depth++) {
    expect(view.canonicalHash(number - 1)).toBe(parentHash)
    const parent = view.header(parentHash) ?? expect.fail(`no block ${number - 1}`)
    ;({ parentHash, number } = parent)
  }
  return latest.number
}

it('faults/executionWorker: gives consistent views while the thread executes, commits and changes branches', async () => {
  let commits = 0
  const onCommit = (): void => void commits++
  await using worker = await startExecutionWorker({ ...deps, onCommit }, { dir: newDir(), config, minFreeBytes: 0 })
  const { safe, finalized, unsafe: genesisRef } = await worker.heads()
  const noncesAt = new Map([[genesisRef.hash as string, 0n]])
  let isOver = false
  let views = 0

  async function look(): Promise<void> {
    while (!isOver) {
      checkView(worker, noncesAt)
      views++
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  const looking = look()
  try {
    let head = genesisRef
    for (let round = 1; round <= sampleOf(16, 40); round++) {
      // twelve blocks on the current head, or on a block up to five below it
      const back = round % 3 === 0 ? Math.min(5, head.number) : 0
      const below = await worker.payload(head.number - back)
      head = below ? l2RefOf(config, below) : head
      for (let i = 0; i < 12; i++) {
        const sent = noncesAt.get(head.hash) ?? expect.fail()
        const payload = await extend(worker, head, sent, round)
        noncesAt.set(payload.blockHash, sent + 1n)
        head = l2RefOf(config, payload)
        const heads: Heads = { unsafe: head, safe, finalized }
        if (i % 4 === 3) await worker.setHeads(heads)
      }
    }
    // synchronously: no message is delivered, so the views themselves apply the coming commit
    const endMs = performance.now() + 15_000
    while (worker.published.overlays.length > 0 && performance.now() < endMs) checkView(worker, noncesAt)
    expect(worker.published.overlays).toEqual([])
  } finally {
    isOver = true
    await looking
  }
  expect(checkView(worker, noncesAt)).toBeGreaterThan(100)
  expect(views).toBeGreaterThan(100)
  expect(commits).toBeGreaterThan(1)
}, 60_000)
