// npm run bench -- anchored --dir DIR [--seconds 60]: an anchored start from a node in another process whose chain grows by 8 Mgas every 200 ms. DIR is the folder of
// that node: DIR/data has a copy of a state of `stateMake`, for one run, because its blocks are finalized. Answers of L1 are delayed by 50 ms. The fill is off.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { startAnvilL1 } from '#devnet/anvil'
import { headerOfPayload } from '#engine/payloadHeader'
import { bytesFromBigint } from '#lib/bytes'
import { systemClock } from '#lib/clock'
import { devnetL1Options } from '#test/harness/l1/devnetL1'
import { rpcCall } from '#test/harness/process/cliProcess'
import { startHttpProxy } from '#test/harness/process/proxyHttp'
import { outputRootOf } from '#test/harness/trust/l2Headers'
import { type Proposal, proposalContracts } from '#test/harness/trust/proposals'
import { type Hash, hashFromBytes, parseAddress } from '#types/ids'
import { type Row, row } from '../format.ts'
import { cpuSec } from '../processTree.ts'
import { requireDir, type StateOptions, sizeOf } from '../state/make.ts'
import { readStateWorld } from '../state/world.ts'
import type { ChildOptions } from './child.ts'
import { finalizedBelow, type GrowingSource, startSource } from './source.ts'

const [blockMs, l1Ms, blocksBefore] = [Number(process.env['ANCHORED_MS'] ?? 200), 50, 40]
const [rootsOfProposal, rootEvery] = [20, 5]
const word = (value: bigint): Hash => hashFromBytes(bytesFromBigint(value, 32))

/** L1 of anvil with a proposal of the blocks that are finalized in the next 20 s, behind two names that answer late. */
async function openL1({ world, payloads, head }: GrowingSource, parts: AsyncDisposableStack): Promise<ChildOptions['l1']> {
  const startBlock = head - finalizedBelow - rootEvery
  const headers = Array.from({ length: rootsOfProposal }, (_, i) => {
    const block = payloads[startBlock + (i + 1) * rootEvery - 1]
    if (block === undefined) throw new Error('too few blocks')
    return headerOfPayload(world.config.schedule, block)
  })
  const createdSec = (headers.at(-1)?.timestamp ?? 0) + 1_800
  const roots = Object.fromEntries(headers.map((header) => [header.number, outputRootOf(header)]))
  const block = startBlock + rootsOfProposal * rootEvery
  const proposal: Proposal = { address: parseAddress(`0x${'61'.repeat(20)}`), startBlock, block, roots, createdSec }
  const contracts = [...proposalContracts({ proposals: [proposal], timestamp: createdSec + 3_600 })].map(([address, { code, slots }]) => ({
    ...{ address, code },
    storage: new Map([...slots].map(([slot, value]) => [word(slot), word(value)])),
  }))
  const l1 = parts.use(await startAnvilL1({ fetch, clock: systemClock }, { ...devnetL1Options, contracts }))
  for (let i = 0; i < 6; i++) await l1.mine()
  const late = async (): Promise<string> => {
    const target = await startHttpProxy(l1.rpcUrl, (body) => body, l1Ms)
    parts.use(target)
    return `:${target.port}`
  }
  const urls = [`http://127.0.0.1${await late()}`, `http://localhost${await late()}`]
  const { hash } = (await rpcCall(l1.rpcUrl, 'eth_getBlockByNumber', ['0x0', false])) as { hash: Hash }
  return { urls, chainId: l1.chainId, genesis: hash, nowMs: devnetL1Options.genesisTimeSec * 1_000 }
}

async function counters(url: string): Promise<(name: string) => number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return (name) =>
    Number(
      text
        .split('\n')
        .find((line) => line.startsWith(name))
        ?.split(' ')
        .at(-1) ?? 0,
    )
}

/** Processor time of the node and of all other processes that this one has started, but for this one. */
function spent(node: number): { readonly node: number; readonly source: number } {
  const { user, system } = process.cpuUsage()
  const ofNode = cpuSec(node)
  return { node: ofNode, source: cpuSec(process.pid) - (user + system) / 1e6 - ofNode }
}

export async function run(options: StateOptions & { readonly seconds?: number }): Promise<readonly Row[]> {
  const dir = requireDir(options)
  const seconds = options.seconds ?? 60
  const datadir = mkdtempSync(join(tmpdir(), 'basalt-bench-anchored-'))
  await using parts = new AsyncDisposableStack()
  parts.defer(() => rmSync(datadir, { recursive: true, force: true }))
  const world = readStateWorld(join(dir, 'data'))
  const blocks = blocksBefore + Math.ceil((2 * seconds * 1_000) / 200)
  const source = parts.use(await startSource(dir, blocks, world))
  for (let i = 0; i < blocksBefore; i++) await source.grow()
  const l1 = await openL1(source, parts)
  const sourceUrl = source.node.url('http')
  const stop = new AbortController()
  const startMs = performance.now()
  const growing = source.growEvery(blockMs, stop.signal)
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, 'child.ts'), JSON.stringify({ worldDir: join(dir, 'data'), datadir, sourceUrl, l1 } satisfies ChildOptions)],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  parts.defer(() => void child.kill('SIGKILL'))
  const ended = once(child, 'close').then(([code]) => {
    throw new Error(`the node ended with exit code ${code}`)
  })
  const [line] = (await Promise.race([once(createInterface({ input: child.stdout }), 'line'), ended])) as [string]
  const { urls } = JSON.parse(line) as { urls: { http: string; metrics: string } }
  await rpcCall(urls.http, 'eth_call', [{ to: world.model.router, data: '0x' }, 'latest'])
  const callMs = performance.now() - startMs
  const ownHead = async (): Promise<number> => Number(await rpcCall(urls.http, 'eth_blockNumber'))
  const first = { head: source.head, ownHead: await ownHead(), cpu: spent(child.pid ?? 0) }
  let followMs: number | undefined
  const lags: number[] = []
  while (performance.now() - startMs < (2 * seconds - 5) * 1_000) {
    const lag = source.head - (await ownHead())
    if (lag <= 2) followMs ??= performance.now() - startMs
    if (followMs !== undefined) lags.push(lag)
    await delay(100)
  }
  const after = await counters(urls.metrics)
  const cpu = spent(child.pid ?? 0)
  const [grown, executed] = [source.head - first.head, (await ownHead()) - first.ownHead]
  const behind = first.head - first.ownHead
  stop.abort()
  await growing
  const [nothing = 0, witness = 0, lackedParts = 0] = ['nothing', 'witness', 'parts'].map((lacked) =>
    after(`basalt_state_source_blocks_total{lacked="${lacked}"}`),
  )
  const share = (of: number): readonly number[] => [(100 * of) / (nothing + witness + lackedParts)]
  const name = (what: string): string => `anchored start, L1 at ${l1Ms} ms, 8 Mgas every ${blockMs} ms: ${what}`
  return [
    row(name('first eth_call'), 's, less is better', [callMs / 1_000]),
    // absent: it was never within two blocks of the head
    ...(followMs === undefined
      ? []
      : [
          row(name('follows the head'), 's, less is better', [followMs / 1_000]),
          row(name('blocks behind after that'), 'blocks, less is better', [Math.max(...lags)]),
        ]),
    row(name('processor time of the node for a block'), 'ms, less is better', [(1_000 * (cpu.node - first.cpu.node)) / executed]),
    row(name('processor time of the source for a block'), 'ms, less is better', [(1_000 * (cpu.source - first.cpu.source)) / grown]),
    row(name('blocks behind at the first eth_call'), 'blocks, less is better', [behind]),
    row(name('blocks behind at the end'), 'blocks, less is better', [behind + grown - executed]),
    row(name('executed blocks for each block of the source'), '', [executed / grown]),
    row(name('disk'), 'MB, less is better', [sizeOf(datadir) / 1e6]),
    row(name('blocks whose state was stored before them'), '%', share(nothing)),
    row(name('blocks that lacked parts without a witness'), '%, less is better', share(lackedParts)),
  ]
}
