// Times of a devnet's blocks and transactions: seals by the sequencer's log, heads at its subscriber, receipts at the second node.
import { createInterface } from 'node:readline'
import type { DevnetStatus } from '#devnet/status'
import { openSocket } from '#test/harness/process/socketClient'
import { distribution, type Row, row } from '../format.ts'
import type { SendTimes } from './load.ts'
import { call, type DevnetProcess, sleep } from './process.ts'

const statusMs = 100

/** `lateMs`: after the block was due */
type Seal = { readonly number: number; readonly atMs: number; readonly lateMs: number }
/** Since when a block on L1 has not been safe on the verifier; zero: the verifier has all of them. */
type Behind = { readonly ms: number; readonly l1Blocks: number }

/** All times in milliseconds since 1970. */
export type Watched = {
  readonly seals: readonly Seal[]
  readonly headsMs: ReadonlyMap<number, number>
  /** by transaction hash */
  readonly receiptsMs: ReadonlyMap<string, number>
  readonly behind: readonly Behind[]
}

const nowMs = (): number => performance.timeOrigin + performance.now()

type Head = { readonly number: string; readonly hash: string }
type Message = { readonly method?: string; readonly params?: { readonly result: Head }; readonly result?: unknown }

/** Calls `seen` with each new head until the signal is aborted. */
async function watchHeads(url: string, signal: AbortSignal, seen: (head: Head) => void): Promise<void> {
  await using client = await openSocket(url)
  client.socket.on('message', (data: Buffer) => {
    const { method, params } = JSON.parse(data.toString()) as Message
    if (method === 'eth_subscription' && params) seen(params.result)
  })
  client.send({ jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params: ['newHeads'] })
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
}

/** Samples how long blocks that the batcher has brought to L1 wait until the verifier derives them. */
async function watchVerifier(control: string, signal: AbortSignal): Promise<readonly Behind[]> {
  const samples: Behind[] = []
  /** each a step of the blocks on L1, in order, beyond the verifier's safe head */
  let steps: { readonly posted: number; readonly atMs: number; readonly l1: number }[] = []
  while (!signal.aborted) {
    const { sequencer, batcher, verifier, l1 } = await call<DevnetStatus>(control, 'devnet_status')
    const posted = sequencer.unsafe - batcher.backlogBlocks
    const atMs = nowMs()
    if (posted > (steps.at(-1)?.posted ?? verifier.safe)) steps.push({ posted, atMs, l1: l1.head })
    steps = steps.filter((step) => step.posted > verifier.safe)
    const [oldest] = steps
    samples.push(oldest ? { ms: atMs - oldest.atMs, l1Blocks: Math.max(0, l1.head - oldest.l1) } : { ms: 0, l1Blocks: 0 })
    await sleep(statusMs)
  }
  return samples
}

/** Reads the sequencer's seals from the devnet's log. */
function watchSeals({ child }: DevnetProcess): readonly Seal[] {
  const seals: Seal[] = []
  const lines = createInterface({ input: child.stderr as NodeJS.ReadableStream })
  lines.on('line', (line) => {
    if (!line.includes('"block sealed"')) return
    const { time, number, lateMs } = JSON.parse(line) as { time: string; number: number; lateMs: number }
    seals.push({ number, atMs: Date.parse(time), lateMs })
  })
  return seals
}

/** Watches a devnet until the signal is aborted. */
export async function watchTimes(devnet: DevnetProcess, signal: AbortSignal): Promise<Watched> {
  const { urls } = devnet
  const [headsMs, receiptsMs] = [new Map<number, number>(), new Map<string, number>()]
  const seals = watchSeals(devnet)
  const reading: Promise<void>[] = []
  const readReceipts = async ({ hash }: Head): Promise<void> => {
    const receipts = await call<readonly { transactionHash: string }[]>(urls.verifier, 'eth_getBlockReceipts', hash)
    const atMs = nowMs()
    for (const { transactionHash } of receipts) receiptsMs.set(transactionHash, atMs)
  }
  const [behind] = await Promise.all([
    watchVerifier(urls.control, signal),
    watchHeads(urls.ws, signal, ({ number }) => headsMs.set(Number(number), nowMs())),
    watchHeads(urls.verifierWs, signal, (head) => reading.push(readReceipts(head))),
  ])
  await Promise.all(reading)
  return { seals, headsMs, receiptsMs, behind }
}

/** @param blockMs time between two slots @param sentMs sending times by transaction hash */
export function timeRows(name: (what: string) => string, watched: Watched, blockMs: number, sentMs: SendTimes): readonly Row[] {
  const { headsMs, receiptsMs, behind } = watched
  const sorted = [...headsMs.keys()]
  const [from, to] = [Math.min(...sorted), Math.max(...sorted)]
  const seals = watched.seals.filter(({ number }) => number >= from && number <= to)
  const missed = seals.filter(({ lateMs }) => lateMs >= blockMs).length
  const intervals = seals.slice(1).map(({ atMs }, at) => atMs - (seals[at]?.atMs ?? atMs))
  const heads = seals.flatMap(({ number, atMs }) => (headsMs.has(number) ? [(headsMs.get(number) as number) - atMs] : []))
  const receipts = [...receiptsMs].flatMap(([hash, atMs]) => (sentMs.has(hash) ? [atMs - (sentMs.get(hash) as number)] : []))
  const ms = (what: string, samples: readonly number[]): Row => distribution(name(what), 'ms, less is better', samples)
  return [
    ms('interval of sealed blocks', intervals),
    row(name('slots missed: blocks that are sealed when the next one is due'), 'slots, less is better', [missed]),
    ms('send until the receipt on the second node', receipts),
    ms('seal until the head at a subscriber', heads),
    distribution(
      name('verifier behind the batcher'),
      's, less is better',
      behind.map((sample) => sample.ms / 1_000),
    ),
    distribution(
      name('verifier behind the batcher, L1 blocks'),
      'L1 blocks, less is better',
      behind.map(({ l1Blocks }) => l1Blocks),
    ),
  ]
}
