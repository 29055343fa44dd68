import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Registry } from 'prom-client'
import { afterAll, expect, it } from 'vitest'
import { readRecordedChain } from '#devnet/recordedChain'
import { systemClock } from '#lib/clock'
import { KzgThread } from '#lib/kzg/kzgThread'
import { createLog } from '#lib/log'
import { openLmdbKv } from '#store/lmdbKv'
import { consensusTables } from '#store/tables'
import { startFaultyL1 } from '#test/harness/l1/recordedL1'
import { type Hash, parseHash } from '#types/ids'
import { createNodeMemory } from '../memory/nodeMemory.ts'
import { checkL1, openL1 } from './l1Part.ts'

const { l1: recording, config } = readRecordedChain()
const { signal } = new AbortController()
const base = mkdtempSync(join(tmpdir(), 'basalt-l1-part-'))
afterAll(() => rmSync(base, { recursive: true }))

type Tx = { readonly blobVersionedHashes?: readonly string[] }
const blobsAt = (number: number): readonly Hash[] =>
  ((recording.blocks[number]?.block['transactions'] ?? []) as readonly Tx[]).flatMap((tx) => (tx.blobVersionedHashes ?? []).map(parseHash))
const last = recording.blocks.findIndex((_, number) => blobsAt(number).length > 0)

it('node/parts/l1Part: requests nothing from L1 again after a restart, including blobs', async () => {
  await using server = await startFaultyL1(recording, last)
  const urls = { rpcUrls: [server.url], beaconUrls: [server.url], pollMs: 4_000 }
  await using kzg = new KzgThread()
  const lines: string[] = []
  const log = createLog('info', { write: (line) => void lines.push(line) })

  /** One process: reads, then ends. */
  async function read(): Promise<readonly Uint8Array[] | 'missing'> {
    await using kv = openLmdbKv(base, Object.values(consensusTables))
    const registry = new Registry()
    using memory = createNodeMemory({ registry, clock: systemClock }, { listen: {} })
    const deps = { kv, clock: systemClock, random: Math.random, fetch, log, kzg, registry, memory }
    await using l1 = openL1(deps, { config, l1: urls })
    await checkL1(l1, signal)
    for (let number = 0; number < last; number++) expect((await l1.block(number, signal))?.ref.number).toBe(number)
    const block = (await l1.block(last, signal)) ?? expect.fail()
    return await l1.blobs(block.ref, blobsAt(last), signal)
  }

  const blobs = await read()
  expect(server.asked.filter((what) => what.includes('Receipts')).length).toBe(last + 1)
  const asked = server.asked.length
  expect(await read()).toEqual(blobs)
  // only the requests of a start: the chain of L1 and its head
  expect(server.asked.slice(asked).toSorted()).toEqual([
    '/eth/v1/beacon/genesis',
    '/eth/v1/config/spec',
    'eth_chainId,eth_getBlockByNumber',
    'eth_getBlockByNumber',
  ])
  expect(lines).toEqual([])
}, 120_000)
