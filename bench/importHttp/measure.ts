// Import of the 42 mixed blocks over HTTP: engine_newPayload and engine_forkchoiceUpdated for one block after the other, to a node in its own process
// with a new data directory. Time of the calls, processor time of each thread, memory, and size of the database. The same blocks by `basalt import` from a file.
// Without other clients, rates are compared with the recorded one of base-reth-node (`recorded.ts`).
// npm run bench -- importHttp [--rounds 5] [--against DIR] [--peer 'NAME=FILE …' --jwt FILE]
//   --against: another checkout of Basalt besides this one
//   --peer: other clients. FILE starts one at the genesis of the blocks in each round, run as `FILE DATADIR PORT JWT_FILE`. NAME=ENGINE_URL[,PID] in the
//     place of NAME=FILE is a client that runs already: one round
// With several clients each imports all blocks in its turn, and each round begins with another one, so that other load of the machine hits all alike.
// Work after an answer, such as writing the block, delays the same client's next block and no other client.
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { systemClock } from '#lib/clock'
import { readShared, readSharedJson, sharedDataDir } from '#test/harness/sharedData'
import { distribution, type Row, row } from '../format.ts'
import { type GenesisNote, inFolder, rollupOf, startBare } from '../rpc/servers.ts'
import { bareRate } from '../rpc/yardstick.ts'
import { type Chain, type Client, openPeer, peersOf, startCheckout } from './clients.ts'
import { importedFromFile, importRow, recordedReth } from './recorded.ts'

const genesisNote = 'bench/mixed-42-blocks.genesis.json'
const blocksNote = 'bench/mixed-42-blocks.jsonl.zst'
/** Time after the last block in which a node commits it. */
const commitMs = 4_000
const settleMs = 2_000
/** Threads with less processor time have no row. */
const leastThreadMs = 10

type Call = { readonly method: string; readonly params: string }
type Block = { readonly number: number; readonly gas: number; readonly insert: Call; readonly head: Call }

/** Returns the calls for each block, encoded before the measurement. */
function mixedBlocks(): readonly Block[] {
  const lines = readShared(blocksNote).toString('utf8').trimEnd().split('\n')
  return lines.map((line) => {
    const { p, root } = JSON.parse(line) as { p: Record<string, string>; root: string }
    const { depositRequests: _, ...payload } = p
    const hash = payload['blockHash']
    const labels = { headBlockHash: hash, safeBlockHash: hash, finalizedBlockHash: hash }
    return {
      number: Number(payload['blockNumber']),
      gas: Number(payload['gasUsed']),
      insert: { method: 'engine_newPayloadV3', params: JSON.stringify([payload, [], root]) },
      head: { method: 'engine_forkchoiceUpdatedV3', params: JSON.stringify([labels, null]) },
    }
  })
}

/** Times of a client's calls in ms. */
class Times {
  readonly insert: number[] = []
  readonly head: number[] = []
  gas = 0

  async add({ call, name }: Client, block: Block): Promise<void> {
    const startMs = performance.now()
    const inserted = (await call(block.insert.method, block.insert.params)) as { status: string }
    const validMs = performance.now()
    if (inserted.status !== 'VALID') throw new Error(`${name}: block ${block.number} is ${JSON.stringify(inserted)}`)
    const { payloadStatus } = (await call(block.head.method, block.head.params)) as { payloadStatus: { status: string } }
    if (payloadStatus.status !== 'VALID') throw new Error(`${name}: forkchoice at block ${block.number} is ${payloadStatus.status}`)
    this.insert.push(validMs - startMs)
    this.head.push(performance.now() - validMs)
    this.gas += block.gas
  }

  get mgasPerSec(): number {
    const ms = [...this.insert, ...this.head].reduce((sum, one) => sum + one, 0)
    return this.gas / 1e3 / ms
  }
}

/** Result of one import. `databaseMb`: after an orderly stop; undefined for a client that runs on. */
type Imported = {
  readonly times: Times
  readonly threads: ReadonlyMap<string, number>
  readonly anonMb: number
  readonly settledMb: number
  readonly databaseMb?: number
}

/** Imports all blocks into one client after the other. @param first the client that begins */
async function importInto(
  clients: readonly Client[],
  blocks: readonly Block[],
  first: number,
): Promise<readonly (Imported & { readonly name: string })[]> {
  const imported: (Imported & { readonly name: string })[] = []
  for (let turn = 0; turn < clients.length; turn++) {
    const at = (first + turn) % clients.length
    imported[at] = await importAlone(clients[at] as Client, blocks)
  }
  return imported
}

async function importAlone(client: Client, blocks: readonly Block[]): Promise<Imported & { readonly name: string }> {
  const [times, before] = [new Times(), client.threads()]
  for (const block of blocks) await times.add(client, block)
  const anonMb = client.anonMb()
  await systemClock.delay(commitMs)
  const threads = [...client.threads()].map(([name, ms]) => [name, ms - (before.get(name) ?? 0)] as const)
  return { name: client.name, times, threads: new Map(threads), anonMb, settledMb: client.anonMb() }
}

function folderMb(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).blocks * 512, 0) / 2 ** 20
}

/** @param bareRates of the reference server, before each run; absent: the rates are not compared with recorded ones */
function rowsOf(name: string, runs: readonly Imported[], bareRates?: readonly number[]): readonly Row[] {
  const of = (what: string, unit: string, figure: (run: Imported) => number): Row => row(`${name}: ${what}`, unit, runs.map(figure))
  const calls = (what: string, list: (times: Times) => readonly number[]): Row =>
    distribution(
      `${name}: ${what}`,
      'ms, less is better',
      runs.flatMap(({ times }) => list(times)),
    )
  const threadNames = [
    ...new Set(runs.flatMap(({ threads }) => [...threads].flatMap(([thread, ms]) => (ms < leastThreadMs ? [] : [thread])))),
  ]
  const sum = ({ threads }: Imported): number => [...threads.values()].reduce((total, ms) => total + ms, 0) / 1_000
  const rates = runs.map(({ times }) => times.mgasPerSec)
  const inserts = calls('newPayload', ({ insert }) => insert)
  return [
    bareRates ? importRow(`${name}: gas`, rates, bareRates, 1) : row(`${name}: gas`, 'Mgas/s', rates),
    bareRates ? { ...inserts, facts: { ...inserts.facts, baseRethP99Ms: recordedReth.p99Ms } } : inserts,
    calls('forkchoiceUpdated', ({ head }) => head),
    of('processor time', 's, less is better', sum),
    ...threadNames
      .sort()
      .map((thread) => of(`processor time of ${thread}`, 's, less is better', ({ threads }) => (threads.get(thread) ?? 0) / 1_000)),
    of('RssAnon after the last block', 'MB, less is better', ({ anonMb }) => anonMb),
    of('RssAnon after the commits', 'MB, less is better', ({ settledMb }) => settledMb),
    ...(runs.some(({ databaseMb }) => databaseMb !== undefined)
      ? [of('data directory', 'MB, less is better', ({ databaseMb }) => databaseMb ?? 0)]
      : []),
  ]
}

export type ImportHttpOptions = { readonly rounds?: number; readonly against?: string; readonly peer?: string; readonly jwt?: string }

const here = resolve(import.meta.dirname, '../..')

export function run({ rounds = 5, against, peer, jwt = 'jwt.hex' }: ImportHttpOptions): Promise<readonly Row[]> {
  const blocks = mixedBlocks()
  const roots = [here, ...(against === undefined ? [] : [against])]
  return inFolder('import-http', async (folder) => {
    const chain = writeChain(folder, blocks)
    const runs = new Map<string, Imported[]>()
    const isAlone = against === undefined && peer === undefined
    const [bareRates, fromFile]: [number[], number[]] = [[], []]
    await using bare = await startBare()
    const peers = peer === undefined ? [] : peersOf(peer, jwt)
    for (let round = 0; round < (peers.some((one) => 'url' in one) ? 1 : rounds); round++) {
      bareRates.push(await bareRate(folder, bare))
      if (isAlone) fromFile.push(await importedFromFile(chain, chain.blocksFile, join(folder, `file-${round}`)))
      const others = peers.map((one) => () => openPeer(one, jwt, join(folder, `${round}`, one.name)))
      for (const { name, ...imported } of await importOnce(chain, roots, others, join(folder, `${round}`), blocks, round))
        runs.set(name, [...(runs.get(name) ?? []), imported])
    }
    const rows = [...runs].flatMap(([name, imported]) =>
      rowsOf(`42 mixed blocks over HTTP, ${name}`, imported, isAlone ? bareRates : undefined),
    )
    return isAlone ? [...rows, importRow('42 mixed blocks from a file, basalt import: gas', fromFile, bareRates, 1.3)] : rows
  })
}

/** Writes the rollup config that is used with the genesis, and the file of the blocks. */
function writeChain(folder: string, blocks: readonly Block[]): Chain & { readonly blocksFile: string } {
  const [rollupFile, blocksFile] = [join(folder, 'rollup.json'), join(folder, 'blocks.jsonl')]
  writeFileSync(blocksFile, readShared(blocksNote))
  const [{ parentHash }] = JSON.parse(blocks[0]?.insert.params ?? '[]') as [{ parentHash: string }]
  writeFileSync(rollupFile, JSON.stringify(rollupOf(readSharedJson<GenesisNote>(genesisNote), parentHash)))
  return { genesisFile: resolve(sharedDataDir, genesisNote), rollupFile, blocksFile }
}

/** Imports into a fresh node of each checkout, and into other clients. */
async function importOnce(
  chain: Chain,
  roots: readonly string[],
  others: readonly (() => Promise<Client>)[],
  folder: string,
  blocks: readonly Block[],
  round: number,
): Promise<readonly (Imported & { readonly name: string })[]> {
  const datadirs = roots.map((_, at) => join(folder, `${at}`))
  const imported = await (async () => {
    await using open = new AsyncDisposableStack()
    const clients: Client[] = []
    for (const [at, root] of roots.entries()) {
      mkdirSync(datadirs[at] as string, { recursive: true })
      clients.push(open.use(await startCheckout(at === 0 ? 'basalt' : root, root, chain, datadirs[at] as string)))
    }
    for (const other of others) clients.push(open.use(await other()))
    await systemClock.delay(settleMs)
    return await importInto(clients, blocks, round)
  })()
  return imported.map((one, at) => (datadirs[at] === undefined ? one : { ...one, databaseMb: folderMb(datadirs[at]) }))
}
