// Delay of a flashblock by commits, with and without FlashblockInterval, which puts a commit off until the next flashblock is executed. Node processes
// with one RPC thread follow the same stream, in turns. A commit and a flashblock need the execution thread, so a flashblock that arrives during a
// commit waits for its end. Measured: from sending a flashblock until a subscriber to newFlashblocks has its block.
import { pathToFileURL } from 'node:url'
import { type Row, row } from './format.ts'
import { listen, makeChain, measure, type NodeStart, type Stream } from './frames.ts'

const rounds = 3
/** The builders' interval, as many transactions per block as a heavy block of Base, and commits at any moment between two flashblocks. */
const stream: Stream = { blocks: 12, warmUpBlocks: 2, transfers: 80, intervalMs: 200, sealLagsMs: [10, 50, 90, 130, 170] }
const flags = ['--rpc.workers', '1']

const ways: readonly { readonly name: string; readonly start: NodeStart }[] = [
  { name: 'with FlashblockInterval', start: { flags, env: {} } },
  {
    name: 'without it',
    start: {
      flags,
      env: { NODE_OPTIONS: `--import ${pathToFileURL(`${import.meta.dirname}/withoutFlashblockInterval.ts`).href}` },
    },
  },
]

const sortedOf = (times: readonly number[]): number[] => times.filter((ms) => !Number.isNaN(ms)).sort((a, b) => a - b)
const mean = (times: readonly number[]): number => times.reduce((sum, ms) => sum + ms, 0) / times.length
const slowestTenth = (times: readonly number[]): number => mean(sortedOf(times).slice(-Math.ceil(times.length / 10)))

export async function run(): Promise<readonly Row[]> {
  const chain = await makeChain(stream)
  const times = ways.map((): number[][] => [])
  for (let round = 0; round < rounds; round++)
    for (const [at, { start }] of ways.entries()) times[at]?.push(await measure(chain, ({ ws }) => listen(ws), start))
  return ways.map(({ name }, at): Row => {
    const runs = times[at] ?? []
    const sorted = sortedOf(runs.flat())
    const part = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
    const lateMs = part(0.5) + 10
    return {
      ...row(`flashblock of ${stream.transfers} transfers → subscriber, mean of the slowest tenth, ${name}`, 'ms', runs.map(slowestTenth)),
      facts: {
        meanMs: mean(sorted),
        p50Ms: part(0.5),
        p90Ms: part(0.9),
        p99Ms: part(0.99),
        'more than 10 ms above the median': sorted.filter((ms) => ms > lateMs).length,
        flashblocks: sorted.length,
        lost: runs.flat().length - sorted.length,
      },
    }
  })
}
