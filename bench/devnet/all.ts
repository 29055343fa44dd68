// A whole devnet under load: presigned transfers, sent over HTTP from this process. Measures transfers sealed a second, the times of blocks and
// transactions, the verifier's lag and the memory of the devnet's process tree. npm run bench -- devnet [--minutes 10] [--rate 1100] [--l1 memory]
import { devnetAccounts, testMnemonic } from '#devnet/accounts'
import type { DevnetStatus } from '#devnet/status'
import { type Row, row } from '../format.ts'
import { cpuSec, residentMb } from '../processTree.ts'
import { timeRows, type Watched, watchTimes } from './latency.ts'
import { type Load, type Sent, sendLoad, signLoad } from './load.ts'
import { call, type DevnetProcess, sleep, startDevnet } from './process.ts'

export type DevnetBench = { readonly minutes?: number; readonly rate?: number; readonly l1?: string }

const chainId = 901
const accountCount = 100
/** seconds of load before the measurement, and seconds after it until the verifier must have the sequencer's head */
const [warmUpSec, settleSec] = [10, 60]
const sampleMs = 1_000
/** Up to this rate each transaction is a request of its own. */
const singleRate = 200

type Sample = {
  readonly atSec: number
  readonly lagSec: number
  readonly rssMb: number
  readonly filesMb: number
  readonly agrees: boolean
}

/** Samples the devnet once a second. */
async function watch(devnet: DevnetProcess, signal: AbortSignal): Promise<Sample[]> {
  const samples: Sample[] = []
  const startMs = performance.now()
  while (!signal.aborted) {
    const status = await call<DevnetStatus>(devnet.urls.control, 'devnet_status')
    const { all, files } = residentMb(devnet.pid)
    samples.push({
      atSec: (performance.now() - startMs) / 1_000,
      lagSec: (status.sequencer.unsafe - status.verifier.safe) * devnet.blockTimeSec,
      rssMb: all,
      filesMb: files,
      agrees: status.agreement.kind === 'agrees',
    })
    await sleep(sampleMs)
  }
  return samples
}

/** Transfers in each block after `from`, up to `to`. */
async function countTransfers({ urls: { rpc }, blockTimeSec }: DevnetProcess, from: number, to: number): Promise<number[]> {
  const counts: number[] = []
  const deposits = blockTimeSec < 1 ? 2 : 1 // without user deposits: the L1 attributes, and from Denim on the block's time
  for (let number = from + 1; number <= to; number++) {
    const block = await call<{ transactions: string[]; gasUsed: string }>(rpc, 'eth_getBlockByNumber', `0x${number.toString(16)}`, false)
    counts.push(Math.max(0, block.transactions.length - deposits))
  }
  return counts
}

/** Growth in MB a minute over the later half, by least squares. */
function growthMbPerMin(samples: readonly Sample[]): number {
  const late = samples.slice(samples.length >> 1)
  const mean = (of: (sample: Sample) => number): number => late.reduce((sum, sample) => sum + of(sample), 0) / late.length
  const [meanAt, meanMb] = [mean(({ atSec }) => atSec), mean(({ rssMb }) => rssMb)]
  const spread = late.reduce((sum, { atSec }) => sum + (atSec - meanAt) ** 2, 0)
  return (60 * late.reduce((sum, { atSec, rssMb }) => sum + (atSec - meanAt) * (rssMb - meanMb), 0)) / Math.max(1, spread)
}

type Measured = {
  readonly perSec: readonly number[]
  readonly samples: readonly Sample[]
  readonly watched: Watched
  readonly sent: Sent
  readonly cpus: number
  readonly settledSec: number
}

async function measure(devnet: DevnetProcess, load: Load, rate: number, seconds: number): Promise<Measured> {
  const { rpc, control } = devnet.urls
  const stop = new AbortController()
  const sending = sendLoad(rpc, load, rate, stop.signal)
  await sleep(warmUpSec * 1_000)
  const watching = Promise.all([watch(devnet, stop.signal), watchTimes(devnet, stop.signal)])
  const head = async (): Promise<number> => Number(await call<string>(rpc, 'eth_blockNumber'))
  const [from, cpuBefore, startMs] = [await head(), cpuSec(devnet.pid), performance.now()]
  await sleep(seconds * 1_000)
  const [to, cpus] = [await head(), ((cpuSec(devnet.pid) - cpuBefore) * 1_000) / (performance.now() - startMs)]
  stop.abort()
  const [sent, [samples, watched]] = await Promise.all([sending, watching])
  const counts = await countTransfers(devnet, from, to)
  const settleMs = performance.now()
  for (;;) {
    const { verifier, agreement } = await call<DevnetStatus>(control, 'devnet_status')
    if (agreement.kind !== 'agrees') throw new Error(`the nodes do not agree: ${JSON.stringify(agreement)}`)
    if (verifier.safe >= to) break
    if (performance.now() - settleMs > settleSec * 1_000) throw new Error(`the verifier is at ${verifier.safe}, not at ${to}`)
    await sleep(100)
  }
  const settledSec = (performance.now() - settleMs) / 1_000
  return { perSec: counts.map((count) => count / devnet.blockTimeSec), samples, watched, sent, cpus, settledSec }
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length)

/** Prints details that the rows do not have. Fails when the nodes disagreed or too many transactions were refused. */
function report({ perSec, samples, sent, settledSec }: Measured): void {
  const late = samples.filter((_, at) => at % Math.max(1, Math.floor(samples.length / 20)) === 0)
  console.log(`transfers/s by block: ${perSec.map((value) => value.toFixed(0)).join(' ')}`)
  console.log(`lag in s: ${late.map(({ lagSec }) => lagSec).join(' ')}; the last block was safe ${settledSec.toFixed(1)} s after the load`)
  console.log(`memory in MB: ${late.map(({ rssMb, filesMb }) => `${rssMb.toFixed(0)} (${filesMb.toFixed(0)} of files)`).join(' ')}`)
  console.log(
    `sent ${sent.sent}, refused ${sent.refused}${sent.firstRefusal ? `: ${sent.firstRefusal}` : ''}; late by at most ${sent.lateMs.toFixed(0)} ms`,
  )
  if (samples.some(({ agrees }) => !agrees)) throw new Error('the nodes differed')
}

export async function run({ minutes = 1, rate = 1_100, l1 = 'anvil' }: DevnetBench = {}): Promise<readonly Row[]> {
  const seconds = minutes * 60
  const { accounts } = devnetAccounts(testMnemonic, accountCount)
  const load = signLoad(accounts, chainId, Math.ceil(rate * (seconds + warmUpSec + 10)), rate > singleRate ? 100 : 1)
  await using devnet = await startDevnet(l1, accountCount)
  const measured = await measure(devnet, load, rate, seconds)
  report(measured)
  const { perSec, samples, cpus } = measured
  const name = (what: string): string => `${what}, ${seconds} s of ${rate} transfers/s, L1 ${l1}`
  return [
    ...timeRows(name, measured.watched, devnet.blockTimeSec * 1_000, measured.sent.times),
    { ...row(name('sealed'), 'transfers/s', perSec), value: mean(perSec) },
    {
      ...row(
        name('verifier behind the unsafe head, at most'),
        's',
        samples.map(({ lagSec }) => lagSec),
      ),
      value: Math.max(...samples.map(({ lagSec }) => lagSec)),
    },
    {
      ...row(
        name('memory of the process tree, at most'),
        'MB',
        samples.map(({ rssMb }) => rssMb),
      ),
      value: Math.max(...samples.map(({ rssMb }) => rssMb)),
    },
    {
      ...row(
        name('of that, pages of files (the program, the databases)'),
        'MB',
        samples.map(({ filesMb }) => filesMb),
      ),
      value: Math.max(...samples.map(({ filesMb }) => filesMb)),
    },
    row(name('growth of memory in the later half'), 'MB/min', [growthMbPerMin(samples)]),
    row(name('CPUs of the process tree'), 'CPUs', [cpus]),
    row(name('from the command to the first block'), 's', [devnet.firstBlockSec]),
  ]
}
